import { createStore } from "zustand/vanilla";
import type { ChannelID, RunID } from "../../api/types";
import type { Built } from "../timeline/items";

/** Stored layouts name the panel by this word, which therefore never changes. */
export const PLAYBACK_PANEL = "playback";

/** The run that a channel's playback shows. */
export const playedStore = createStore<Record<ChannelID, RunID>>(() => ({}));

/** The run that began last of those that are loaded; "" for none. */
export function lastRun(b: Built): RunID {
  let best = "";
  let at = 0;
  for (const r of Object.values(b.runs)) {
    const began = r.startedAt || r.seenAt;
    if (began > at) [best, at] = [r.runId, began];
  }
  return best;
}
