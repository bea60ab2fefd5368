import { createStore } from "zustand/vanilla";
import type { ChannelID, RunID } from "../../api/types";
import type { Built, Item } from "../timeline/items";
import { startOf } from "./lanes";

/** Stored layouts name the panel by this word, which therefore never changes. */
export const PLAYBACK_PANEL = "playback";

/** What a channel's playback shows, from a moment on. visit: grows whenever a person asks for one. */
export type Played = { run: RunID; from: number; visit: number };

export const playedStore = createStore<Record<ChannelID, Played>>(() => ({}));

/** Where an open playback stands: the row that began last. Times are milliseconds since the epoch. */
export type Moment = { run: RunID; began: number; at: number };

export const momentStore = createStore<Record<ChannelID, Moment | undefined>>(() => ({}));

/** Which of these items is the moment's; -1 for none. */
export function itemAt(items: readonly Item[], m: Moment | undefined): number {
  return m ? items.findLastIndex((it) => it.runId === m.run && startOf(it) <= m.at) : -1;
}

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
