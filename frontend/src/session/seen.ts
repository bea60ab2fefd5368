// Keeps which ends of work the person has looked at, over visits and pages.
import { looked, seenFrom } from "../model/seen";
import { frameStore, seenStore, viewStore } from "../model/stores";
import { loadChoice, saveChoice } from "../shell/memory";

const SEEN = "seen";

/** Takes the chosen channel as looked at while the window has the keyboard. */
export function look() {
  const { ready, channels } = frameStore.getState();
  if (!ready || document.visibilityState === "hidden" || !document.hasFocus()) return;
  const before = seenStore.getState().seen;
  const seen = looked(channels, before, viewStore.getState().selected);
  if (seen === before) return;
  seenStore.setState({ seen });
  saveChoice(SEEN, JSON.stringify(seen));
}

/** Takes over what was kept. */
export function recallSeen() {
  seenStore.setState({ seen: seenFrom(loadChoice(SEEN)) });
  look();
}
