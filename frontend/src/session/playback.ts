// Opens the playback of a run, from anywhere.
import type { ChannelID, RunID } from "../api/types";
import { openPanel } from "../dock/dock";
import { PLAYBACK_PANEL, playedStore } from "../model/playback/store";

export function playBack(channel: ChannelID, run: RunID) {
  playedStore.setState({ [channel]: run });
  openPanel({ kind: PLAYBACK_PANEL, data: null }, "", "down");
}
