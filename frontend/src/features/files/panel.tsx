import { FolderTree } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { FILES_PANEL } from "../../model/file-tree";
import { FilesPanel } from "./FilesPanel";

/** The panel of a channel's files, as its container has them. */
export const filesPanel: PanelKind<null> = {
  kind: FILES_PANEL, noun: "list of files",
  render: ({ channelId }) => <FilesPanel key={channelId} channelId={channelId} />,
  face: () => ({ ...quietFace, title: "Files" }),
  icon: (_, size) => <FolderTree size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => FILES_PANEL,
  focus: ({ id }) => visit(id, ".files-tree", ".files"),
  opens: () => [{ id: "files", name: "Open: files of the container", label: "Files", icon: <FolderTree size={14} aria-hidden />, run: () => openPanel({ kind: FILES_PANEL, data: null }) }],
  keys: {
    place: "files",
    rows: () => [{ keys: "← →", does: "Fold or open a folder" }, { keys: "Enter", does: "Look into the file" }, { keys: "Esc", does: "Back to the list, then to where you were" }],
  },
};
