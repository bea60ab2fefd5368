// Keeps which ends of work the person has looked at, over visits and pages.
import type { ChannelID } from "../api/types";
import { looked, seenFrom } from "../model/seen";
import { frameStore, seenStore, viewStore } from "../model/stores";
import { session } from "./session";
import { loadChoice, saveChoice } from "../shell/memory";

const SEEN = "seen";

const ALL = "*"; // the desk shows all channels
let told = ""; // what Loop was told last

/** Tells Loop what the person looks at, so that it rings only when they do not. A page in a browser rings nothing. */
function tell() {
  if (session().kind !== "window") return;
  const looking = document.visibilityState !== "hidden" && document.hasFocus();
  const { selected: channel, page } = viewStore.getState();
  const selected = channel || (page === "desk" ? ALL : "");
  const now = `${looking} ${selected}`;
  if (now === told) return;
  told = now;
  session().api.system.look(looking, selected).catch(() => (told = "")); // told again at the next change
}

/** Takes the chosen channel as looked at while the window has the keyboard. */
export function look() {
  tell();
  if (!frameStore.getState().ready || document.visibilityState === "hidden" || !document.hasFocus()) return;
  markSeen(viewStore.getState().selected);
}

/** Takes what a channel did last as looked at. */
export function markSeen(channel: ChannelID) {
  const before = seenStore.getState().seen;
  const seen = looked(frameStore.getState().channels, before, channel);
  if (seen === before) return;
  seenStore.setState({ seen });
  saveChoice(SEEN, JSON.stringify(seen));
}

/** Takes over what was kept. */
export function recallSeen() {
  seenStore.setState({ seen: seenFrom(loadChoice(SEEN)) });
  look();
}
