import { FolderTree } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import type { FilesKept } from "../../model/file-tree";
import { FILES_PANEL, readKept } from "../../model/file-tree";
import { later } from "../../ui/Later";

const FilesPanel = later("The panel of files", () => import("./FilesPanel"), (m) => m.FilesPanel);

/** The panel of a channel's files, as its container has them. */
export const filesPanel: PanelKind<FilesKept | null> = {
  kind: FILES_PANEL, noun: "list of files",
  render: ({ channelId, panel }) => <FilesPanel key={channelId} channelId={channelId} panelId={panel.id} kept={panel.data} />,
  face: () => ({ ...quietFace, title: "Files" }),
  icon: (_, size) => <FolderTree size={size} aria-hidden />,
  store: (kept) => kept ?? {},
  load: readKept,
  key: () => FILES_PANEL,
  focus: ({ id }) => visit(id, ".files-tree", ".files"),
  opens: () => [{ id: "files", name: "Open: files of the container", label: "Files", icon: <FolderTree size={14} aria-hidden />, run: () => openPanel({ kind: FILES_PANEL, data: null }) }],
  keys: {
    place: "files",
    rows: () => [{ keys: "← →", does: "Fold or open a folder" }, { keys: "Enter", does: "Look into the file" }, { keys: "Shift ↑ ↓", does: "In a file: choose more lines; a click on a number chooses one" }, { keys: "Esc", does: "Back to the list, then to where you were" }],
  },
};
