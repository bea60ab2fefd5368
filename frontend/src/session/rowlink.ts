// Copies links to items of timelines, and follows them.
import type { RowLink } from "../model/rowlink";
import { linked, linkTo, parseRowLink, rowLink } from "../model/rowlink";
import { frameStore, toast, viewStore } from "../model/stores";
import type { Item } from "../model/timeline/items";
import { copyText, NOT_COPIED } from "../shell/clipboard";
import { goToItem } from "./find";
import { session } from "./session";

/** The link works in the served page, and in the palette of any page. */
export async function copyRowLink(items: readonly Item[], it: Item) {
  const { base } = await session().endpoint();
  toast((await copyText(rowLink(base, linkTo(items, it, viewStore.getState().selected)))) ? "Copied the link to this item." : NOT_COPIED);
}

export async function followRowLink(l: RowLink) {
  if (!frameStore.getState().channels.some((c) => c.channel_id === l.channel)) {
    toast("This link leads to a channel that this Loop does not have.");
    return;
  }
  await goToItem(l.channel, l.event, (items) => linked(items, l));
}

let waiting: RowLink | null = null; // until the page knows the channels

/** Takes a link out of the address bar, so that the same one can be opened again, and follows it. */
export function takeRowLink() {
  const l = parseRowLink(location.hash);
  if (!l) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (frameStore.getState().ready) void followRowLink(l);
  else waiting = l;
}

/** Called once the page knows the channels. */
export function followRowWaiting() {
  if (waiting) void followRowLink(waiting);
  waiting = null;
}
