import { History } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { DECISIONS_PANEL } from "../../model/gate-log";
import { DecisionsPanel } from "./DecisionsPanel";

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
    heading: "In the decisions of the gate",
    rows: () => [{ keys: "J, K", does: "Next or previous entry" }, { keys: "← →", does: "Fold a tool call's entries" }, { keys: "T", does: "Show it in the timeline" }, { keys: "M", does: "Write a rule of it" }, { keys: "C", does: "Copy the entry" }, { keys: "/", does: "Find" }, { keys: "Esc", does: "Back to where you were" }],
  },
};
