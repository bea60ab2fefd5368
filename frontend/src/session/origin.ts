// The way from a thread to what it continues.
import type { Origin } from "../api/types";
import { revealTimeline } from "../dock/dock";
import { select } from "./actions";
import { goToItem } from "./find";

/** Goes to the last message that both have, or to the channel where that is not known. */
export async function goToOrigin(o: Origin) {
  const event = o.event_id ?? 0;
  if (event > 0) return goToItem(o.channel_id ?? "", event, (items) => items.find((it) => it.key === `e${event}`) ?? items.findLast((it) => Number(/^e(\d+)$/.exec(it.key)?.[1] ?? Infinity) <= event) ?? items[0]);
  select(o.channel_id ?? "");
  revealTimeline();
}
