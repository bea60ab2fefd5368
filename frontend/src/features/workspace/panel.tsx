import { FolderSync } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import type { WorkspaceKept } from "../../model/workspace";
import { WORKSPACE_PANEL } from "../../model/workspace";
import { later } from "../../ui/Later";

const WorkspacePanel = later("The workspace", () => import("./WorkspacePanel"), (m) => m.WorkspacePanel);

/** The panel of an agent's copy beside its original. */
export const workspacePanel: PanelKind<WorkspaceKept | null> = {
  kind: WORKSPACE_PANEL, noun: "copy beside its original",
  render: ({ channelId, panel }) => <WorkspacePanel key={channelId} channelId={channelId} panelId={panel.id} kept={panel.data} />,
  face: () => ({ ...quietFace, title: "Workspace" }),
  icon: (_, size) => <FolderSync size={size} aria-hidden />,
  store: (kept) => kept ?? {},
  load: ({ path }) => (typeof path === "string" && path.length <= 4096 ? { path } : null),
  key: () => WORKSPACE_PANEL,
  focus: ({ id }) => visit(id, ".workspace-list", ".workspace"),
  opens: () => [{ id: "workspace", name: "Open: workspace, copy and original", label: "Workspace", icon: <FolderSync size={14} aria-hidden />, run: () => openPanel({ kind: WORKSPACE_PANEL, data: null }) }],
  keys: {
    place: "workspace",
    rows: () => [{ keys: "Space", does: "Tick the file" }, { keys: "Enter", does: "Go to the difference" }, { keys: "Esc", does: "Back" }],
  },
};
