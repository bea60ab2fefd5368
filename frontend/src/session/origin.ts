// The way from a thread to what it continues.
import type { Origin } from "../api/types";
import { revealTimeline } from "../dock/dock";
import { timelineOf, timelinesStore } from "../model/stores";
import { select } from "./actions";
import { goToItem } from "./find";

/** Goes to the last message that both have, or to the channel where that is not known. */
export async function goToOrigin(o: Origin) {
  const channel = o.channel_id ?? "";
  const event = o.event_id ?? 0;
  if (event > 0) {
    return goToItem(channel, event, (items) => {
      const ev = timelineOf(timelinesStore.getState(), channel).events.find((e) => e.id === event); // a row is not named by its event alone
      return items.find((it) => (it.kind === "text" || it.kind === "prompt") && it.at === ev?.timestamp && it.runId === (ev?.run_id ?? "")) ?? items[0];
    });
  }
  select(channel);
  revealTimeline();
}
