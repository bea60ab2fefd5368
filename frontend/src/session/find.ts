// Finds what was said and done, and goes there.
import { toFailure } from "../api/failure";
import type { ChannelID, FoundEvent } from "../api/types";
import { revealTimeline } from "../dock/dock";
import type { Find } from "../model/find";
import { findStore, foundRowStore, noFind, rowOf } from "../model/find";
import { timelineOf, timelinesStore, toast, viewStore } from "../model/stores";
import type { Item } from "../model/timeline/items";
import { front } from "../ui/layer";
import { openDialog, select } from "./actions";
import { NOT_SHOWN, reveal } from "./gate";
import { session } from "./session";

const PAUSE_MS = 120; // between the last letter and the search
const PAGE = 100;

let asked = 0;
let pause: ReturnType<typeof setTimeout> | undefined;
let wish: (() => void) | null = null; // what the person wants of the hits that are on their way

/** Acts on the hits of the words that are there: those of before count for nothing while others are on their way. */
export function whenFound(act: () => void) {
  if (findStore.getState().phase === "loading") wish = act;
  else act();
}

/** Forgets what was to be done with hits that are on their way. */
export function unwish() {
  wish = null;
}

/** Searches once the person stops writing. The hits of before stay until then. */
export function search(words: string, channel: ChannelID) {
  const mine = ++asked;
  unwish();
  clearTimeout(pause);
  if (!words.trim()) return findStore.setState({ ...noFind, bar: findStore.getState().bar, channel });
  findStore.setState({ words, channel, phase: "loading" });
  const answer = (is: Partial<Find>) => {
    if (mine !== asked) return;
    findStore.setState({ found: [], more: false, at: -1, failure: null, ...is });
    const act = wish;
    unwish();
    act?.();
  };
  pause = setTimeout(() => {
    session().api.channels.find({ words, channel_id: channel, limit: PAGE }).then(
      ({ found, more }) => answer({ phase: "done", found: found ?? [], more }),
      (err: unknown) => answer({ phase: "error", failure: toFailure(err) }),
    );
  }, PAUSE_MS);
}

let older = 0; // the search whose older hits are on their way

/** Adds the hits before the oldest one. */
export async function searchOlder() {
  const { words, channel, found, more, phase } = findStore.getState();
  const last = found.at(-1);
  if (!more || !last || older === asked || phase === "loading") return;
  const mine = (older = asked);
  try {
    const next = await session().api.channels.find({ words, channel_id: channel, before_id: last.event_id, limit: PAGE });
    if (mine === asked) findStore.setState((f) => ({ found: [...f.found, ...(next.found ?? [])], more: next.more }));
  } catch (err) {
    if (mine === asked) findStore.setState({ failure: toFailure(err), phase: "error", more: false });
  } finally {
    if (older === mine) older = 0;
  }
}

/** Opens the field above the timeline. Words that are selected there are searched at once. */
export function openFindBar() {
  const { selected } = viewStore.getState();
  if (!selected) return openFind();
  revealTimeline();
  findStore.setState((f) => ({ ...(f.channel === selected ? f : { ...noFind, channel: selected }), bar: f.bar + 1 }));
}

export function closeFindBar() {
  clearTimeout(pause);
  unwish();
  asked++;
  findStore.setState({ ...noFind });
}

/** Opens the search over everything. */
export function openFind(words = "") {
  if (words) search(words, "");
  openDialog("find");
}

/** Goes to the next hit, the newest first. */
export const step = (by: 1 | -1) => whenFound(() => void goOn(by));

async function goOn(by: 1 | -1) {
  const { found, at, more } = findStore.getState();
  if (found.length === 0) return;
  if (at + by >= found.length && more) await searchOlder();
  const all = findStore.getState().found;
  const to = (at + by + all.length) % all.length;
  const hit = all[at < 0 ? 0 : to];
  findStore.setState({ at: at < 0 ? 0 : to });
  if (hit) await goToFound(hit, false);
}

/** Shows a hit in its timeline, and gives its row the keyboard if enter says so. */
export const goToFound = (f: FoundEvent, enter = true) => goToItem(f.channel_id, f.event_id, (items) => rowOf(items, f), enter);

/**
 * Shows an item of a timeline, which is loaded as far back as an event, and opens it: what is
 * meant may be in what it hides. enter: it gets the keyboard.
 */
export async function goToItem(channel: ChannelID, event: number, pick: (items: readonly Item[]) => Item | undefined, enter = true) {
  if (viewStore.getState().selected !== channel) select(channel);
  const there = await session().reach(channel, event);
  if (viewStore.getState().selected !== channel) return; // the person went elsewhere meanwhile
  if (!there) {
    toast("That part of the timeline could not be loaded. Try again.");
    return;
  }
  const it = pick(timelineOf(timelinesStore.getState(), channel).built.items);
  if (!it) return toast(NOT_SHOWN);
  revealTimeline();
  foundRowStore.setState({ key: it.key });
  front.after(() => reveal(it.key, enter));
}
