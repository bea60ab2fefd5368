import { ShieldQuestion } from "lucide-react";
import type { PanelKind } from "../../dock/panels";
import { panelsChanged, quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { WAITING_PANEL } from "../../model/gate";
import { dockUi } from "../../model/dock/store";
import { frameStore, stopStore } from "../../model/stores";
import { openWaiting } from "../../session/gate";
import { later } from "../../ui/Later";

const WaitingPanel = later("The list of what waits", () => import("./WaitingPanel"), (m) => m.WaitingPanel);

/** The panel of what waits for the person, of all channels. */
export const waitingPanel: PanelKind<null> = {
  kind: WAITING_PANEL, noun: "list of what waits",
  render: () => <WaitingPanel />,
  face() {
    const n = frameStore.getState().approvals.length;
    return { ...quietFace, title: n > 0 ? `Waiting ${n}` : "Waiting" };
  },
  icon: (_, size) => <ShieldQuestion size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => WAITING_PANEL,
  focus({ id }) {
    if (stopStore.getState().to === "panel") dockUi.setState({ keyboard: "" }); // a card in it gets the keyboard
    else visit(id, ".gate-row[tabindex='0']", ".gate-waiting");
  },
  opens: () => [{ id: "waiting", name: "Open: what waits for you", label: "What waits for you", icon: <ShieldQuestion size={14} aria-hidden />, run: openWaiting }],
};

frameStore.subscribe((now, before) => {
  if (now.approvals.length !== before.approvals.length) panelsChanged();
});
