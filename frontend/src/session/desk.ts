// The way to the desk and back, and what its cards do.
import type { ChannelID } from "../api/types";
import { isTwice } from "../model/desk";
import { timelineOf, timelinesStore, viewStore } from "../model/stores";
import { focusPrompt, select } from "./actions";
import { nextNeed } from "./gate";
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

const MOST = 20; // timelines that the desk reads for its cards

/** Reads the timelines of cards that tell of them, as far as they are not known. */
export function readFor(channels: readonly ChannelID[]) {
  for (const id of channels.slice(0, MOST)) if (timelineOf(timelinesStore.getState(), id).phase === "empty") void session().load(id);
}
