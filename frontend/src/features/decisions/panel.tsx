import { History } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { DECISIONS_PANEL } from "../../model/gate-log";
import { later } from "../../ui/Later";

const DecisionsPanel = later("The log of decisions", () => import("./DecisionsPanel"), (m) => m.DecisionsPanel);

/** The panel of what the gate has decided in a channel. */
export const decisionsPanel: PanelKind<null> = {
  kind: DECISIONS_PANEL, noun: "list of decisions",
  render: ({ channelId }) => <DecisionsPanel key={channelId} channelId={channelId} />,
  face: () => ({ ...quietFace, title: "Decisions" }),
  icon: (_, size) => <History size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => DECISIONS_PANEL,
  focus: ({ id }) => visit(id, ".decisions-list", ".decisions"),
  opens: () => [{ id: "decisions", name: "Open: decisions of the gate", label: "Decisions of the gate", icon: <History size={14} aria-hidden />, run: () => openPanel({ kind: DECISIONS_PANEL, data: null }) }],
  keys: {
    place: "decisions",
    rows: () => [{ keys: "← →", does: "Fold a tool call's entries" }, { keys: "Esc", does: "Back to where you were" }],
  },
};
