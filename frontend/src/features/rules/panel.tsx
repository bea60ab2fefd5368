import { ShieldCheck } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { dockUi } from "../../model/dock/store";
import { RULES_PANEL } from "../../model/gate-rules";
import { RulesPanel } from "./RulesPanel";

function focusPanel() {
  const panel = document.querySelector<HTMLElement>(".rules");
  if (panel && !panel.contains(document.activeElement)) (panel.querySelector<HTMLElement>(".rules-list") ?? panel).focus();
}

/** The panel of the rules that count in a channel. */
export const rulesPanel: PanelKind<null> = {
  kind: RULES_PANEL, noun: "list of rules",
  render: ({ channelId }) => <RulesPanel key={channelId} channelId={channelId} />,
  face: () => ({ ...quietFace, title: "Rules" }),
  icon: (_, size) => <ShieldCheck size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => RULES_PANEL,
  focus() {
    dockUi.setState({ keyboard: "" });
    focusPanel();
    requestAnimationFrame(focusPanel); // a panel that was behind another tab is visible only now
  },
  opens: () => [{ id: "rules", name: "Open: rules of the gate", label: "Rules of the gate", icon: <ShieldCheck size={14} aria-hidden />, run: () => openPanel({ kind: RULES_PANEL, data: null }) }],
  keys: {
    heading: "In the rules of the gate",
    rows: () => [{ keys: "J, K", does: "Next or previous rule" }, { keys: "Alt ↑ ↓", does: "Move the rule" }, { keys: "Enter", does: "Test the rule" }, { keys: "Delete", does: "Delete the rule" }, { keys: "U", does: "Undo the last change" }, { keys: "/", does: "Filter" }],
  },
};
