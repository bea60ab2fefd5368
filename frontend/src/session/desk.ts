// The way to the desk and back, and what its cards do.
import type { ChannelID } from "../api/types";
import { isTwice } from "../model/desk";
import { lastRun } from "../model/playback/store";
import { frameStore, timelineOf, timelinesStore, toastFailure, viewStore } from "../model/stores";
import { focusPrompt, select } from "./actions";
import { nextNeed } from "./gate";
import { openLastTurn, openReview } from "./review";
import { session } from "./session";

let from: ChannelID = ""; // the channel that was shown before
let pressed = { at: 0, from: "" }; // when F8 was pressed last, and where

export function openDesk() {
  const { selected, page } = viewStore.getState();
  if (page === "desk" && !selected) return;
  from = selected;
  viewStore.setState({ selected: "", page: "desk" });
}

/** Goes back to where the person was before. */
export function leaveDesk() {
  select(from);
  if (from) focusPrompt();
}

/** F8: the next one that waits, and twice the desk. */
export function pressNext(back: boolean, now = performance.now()) {
  if (!back && isTwice(pressed.at, now)) {
    openDesk();
    from = pressed.from;
    pressed = { at: 0, from: "" };
    return;
  }
  pressed = { at: back ? 0 : now, from: viewStore.getState().selected };
  nextNeed(back);
}

/** Opens a channel with the review of what its last run changed. */
export function reviewFromDesk(channel: ChannelID) {
  const run = lastRun(timelineOf(timelinesStore.getState(), channel).built);
  select(channel);
  if (run) openReview(channel, run);
  else openLastTurn(channel);
}

/** Chooses what the desktop tells of a channel; "" is what the settings say. */
export async function setRings(channel: ChannelID, notify: string) {
  const chosen = frameStore.getState().channels.find((c) => c.channel_id === channel)?.choices ?? {};
  try {
    const made = await session().api.channels.choose(channel, { ...chosen, notify });
    frameStore.setState((f) => ({ channels: f.channels.map((c) => (c.channel_id === channel ? { ...c, choices: made.choices } : c)) }));
  } catch (err) {
    toastFailure(err);
  }
}

const MOST = 20; // timelines that the desk reads for its cards

/** Reads the timelines of cards that tell of them, as far as they are not known. */
export function readFor(channels: readonly ChannelID[]) {
  for (const id of channels.slice(0, MOST)) if (timelineOf(timelinesStore.getState(), id).phase === "empty") void session().load(id);
}
