// Links that lead to one item of a timeline. All is behind the #, which no server sees.
import type { ChannelID, RunID } from "../api/types";
import { hashOf } from "./playback/runlink";
import type { Item } from "./timeline/items";

/** event: one that is at or before the item, 0 for none; it says how far back the timeline is needed. at: the item's time in ms. */
export type RowLink = { channel: ChannelID; run: RunID; event: number; at: number };

const FORM = /^#item=(\d{1,16})&at=(\d{1,16})&channel=([0-9A-Za-z_-]{1,64})(?:&run=([0-9A-Za-z_-]{1,64}))?$/;

/** base: the address of the page. */
export const rowLink = (base: string, l: RowLink): string => `${base}#item=${l.event}&at=${l.at}&channel=${l.channel}${l.run ? `&run=${l.run}` : ""}`;

/** The item that a link leads to; null where a text is no such link of a Loop on this computer. */
export function parseRowLink(text: string): RowLink | null {
  const [, event, at, channel, run = ""] = FORM.exec(hashOf(text)) ?? [];
  return event && at && channel ? { channel, run, event: Number(event), at: Number(at) } : null;
}

const eventOf = (it: Item): number => Number(/^(?:reads )?e(\d+)$/.exec(it.key)?.[1] ?? 0);

/** The link to one of these items. Only some are named by their event, so that one before it may stand in. */
export function linkTo(items: readonly Item[], it: Item, channel: ChannelID): RowLink {
  const i = items.indexOf(it);
  const near = items.slice(0, i + 1).findLast((x) => eventOf(x) > 0);
  return { channel, run: it.runId, event: near ? eventOf(near) : 0, at: it.at };
}

/** The item of a link. */
export function linked(items: readonly Item[], l: RowLink): Item | undefined {
  return items.find((it) => eventOf(it) === l.event && it.at === l.at) ?? items.find((it) => it.at === l.at && it.runId === l.run) ?? items.findLast((it) => it.at <= l.at);
}
