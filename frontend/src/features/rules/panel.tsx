import { ShieldCheck } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { RULES_PANEL } from "../../model/gate-rules";
import { later } from "../../ui/Later";

const RulesPanel = later("The rules", () => import("./RulesPanel"), (m) => m.RulesPanel);

/** The panel of the rules that count in a channel. */
export const rulesPanel: PanelKind<null> = {
  kind: RULES_PANEL, noun: "list of rules",
  render: ({ channelId }) => <RulesPanel key={channelId} channelId={channelId} />,
  face: () => ({ ...quietFace, title: "Rules" }),
  icon: (_, size) => <ShieldCheck size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => RULES_PANEL,
  focus: ({ id }) => visit(id, ".rules-editor textarea", ".rules-list", ".rules"),
  opens: () => [{ id: "rules", name: "Open: rules of the gate", label: "Rules of the gate", icon: <ShieldCheck size={14} aria-hidden />, run: () => openPanel({ kind: RULES_PANEL, data: null }) }],
  keys: {
    place: "rules",
    rows: () => [{ keys: "Enter", does: "Change the rule" }, { keys: "1 – 9", does: "Review a suggested rule" }, { keys: "Esc", does: "Back to where you were" }],
  },
};
