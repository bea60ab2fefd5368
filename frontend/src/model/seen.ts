// Which channels came to an end that nobody has looked at yet.
import type { ChannelView } from "../api/types";

/** The last event of each channel that was looked at when its work had ended. null: nothing was kept, as on the first visit. */
export type Seen = Readonly<Record<string, number>> | null;

type Ended = Pick<ChannelView, "channel_id" | "parent_id" | "state" | "last_event_id">;

const hasEnded = (c: Ended) => c.state === "done" || c.state === "failed";

/** What was kept as text; anything else is nothing. */
export function seenFrom(text: string): Seen {
  try {
    const v: unknown = JSON.parse(text);
    if (typeof v !== "object" || v === null || Array.isArray(v)) return null;
    return Object.fromEntries(Object.entries(v).filter((e): e is [string, number] => Number.isSafeInteger(e[1])));
  } catch {
    return null;
  }
}

/** Whether a channel has an end that was not looked at. On the first visit there is none: what is old is not news. */
export const isUnseen = (c: Ended, seen: Seen): boolean => seen !== null && hasEnded(c) && c.last_event_id > (seen[c.channel_id] ?? 0);

/** The channels with one. */
export const unseenOf = (channels: readonly Ended[], seen: Seen): ReadonlySet<string> => new Set(channels.filter((c) => isUnseen(c, seen)).map((c) => c.channel_id));

/** What is seen once a person looks at a channel; the same value where that changes nothing. Channels that are gone are forgotten. */
export function looked(channels: readonly Ended[], seen: Seen, at: string): Seen {
  if (seen === null) return Object.fromEntries(channels.filter(hasEnded).map((c) => [c.channel_id, c.last_event_id]));
  if (!channels.some((c) => c.channel_id === at && isUnseen(c, seen))) return seen;
  return Object.fromEntries(channels.flatMap((c) => {
    const n = c.channel_id === at ? c.last_event_id : seen[c.channel_id];
    return n === undefined ? [] : [[c.channel_id, n]];
  }));
}
