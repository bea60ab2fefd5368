// Opens the playback of a run, from anywhere, also by a link to one of its moments.
import { fetchExport } from "../api/runexport";
import type { ChannelID, RunID } from "../api/types";
import { openPanel } from "../dock/dock";
import type { RunLink } from "../model/playback/runlink";
import { parseRunLink, runLink } from "../model/playback/runlink";
import { PLAYBACK_PANEL, playedStore } from "../model/playback/store";
import { frameStore, toast, viewStore } from "../model/stores";
import { copyText, NOT_COPIED } from "../shell/clipboard";
import { saveFile } from "../shell/save";
import { select } from "./actions";
import { session } from "./session";

/** from: milliseconds since the run began. */
export function playBack(channel: ChannelID, run: RunID, from = 0) {
  playedStore.setState((all) => ({ [channel]: { run, from, visit: (all[channel]?.visit ?? 0) + 1 } }));
  openPanel({ kind: PLAYBACK_PANEL, data: null }, "", "down");
}

/** The link works in the served page, and in the palette of any page. */
export async function copyRunLink(l: RunLink, words: string) {
  const { base } = await session().endpoint();
  toast((await copyText(runLink(base, l))) ? `Copied the link to ${words}.` : NOT_COPIED);
}

/** Makes one file of a run for people without Loop. Throws a failure. */
export async function exportRun(run: RunID) {
  if (session().kind === "window") {
    const to = await session().api.footage.saveExport(run);
    if (to) toast(`The run is in ${to}.`);
    return;
  }
  const { file, name } = await fetchExport(await session().endpoint(), run);
  saveFile(file, name);
  toast(`The run is in ${name}, with your downloads.`);
}

export function followRunLink(l: RunLink) {
  if (!frameStore.getState().channels.some((c) => c.channel_id === l.channel)) {
    toast("This link leads to a channel that this Loop does not have.");
    return;
  }
  if (viewStore.getState().selected !== l.channel) select(l.channel);
  playBack(l.channel, l.run, l.at);
}

let waiting: RunLink | null = null; // until the page knows the channels

/** Takes a link out of the address bar, so that the same one can be opened again, and follows it. */
export function takeRunLink() {
  const l = parseRunLink(location.hash);
  if (!l) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (frameStore.getState().ready) followRunLink(l);
  else waiting = l;
}

/** Called once the page knows the channels. */
export function followWaiting() {
  if (waiting) followRunLink(waiting);
  waiting = null;
}
