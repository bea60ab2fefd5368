import { Boxes } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { CONTAINERS_PANEL } from "../../model/containers";
import { openContainers } from "../../session/actions";
import { later } from "../../ui/Later";

export const ContainersPanel = later("The list of containers", () => import("./ContainersPanel"), (m) => m.ContainersPanel);

/** The panel of all containers of this Loop. */
export const containersPanel: PanelKind<null> = {
  kind: CONTAINERS_PANEL, noun: "list of containers",
  render: () => <ContainersPanel />,
  face: () => ({ ...quietFace, title: "Containers" }),
  icon: (_, size) => <Boxes size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => CONTAINERS_PANEL,
  focus: ({ id }) => visit(id, ".containers-list", ".containers-panel"),
  opens: (_, group) => [{ id: "containers", name: "Open: containers", label: "Containers", icon: <Boxes size={14} aria-hidden />, run: () => (group ? openPanel({ kind: CONTAINERS_PANEL, data: null }, group) : openContainers()) }],
  keys: {
    place: "containers",
    rows: () => [{ keys: "↑ ↓", does: "Next or previous container" }, { keys: "Enter", does: "Go to its details" }, { keys: "1 – 4", does: "Overview, why, logs, ports" }, { keys: "Esc", does: "Back to the list, then to where you were" }],
  },
};
