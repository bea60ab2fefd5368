// While a person writes a prompt, the channel's container is started, so that the run finds it ready.
import type { ChannelID } from "../api/types";
import { session } from "./session";

const AGAIN = 60_000; // Loop keeps it for twice as long after the last word

const said = new Map<ChannelID, number>();

/** Called with each change of a prompt that somebody types. What stands in the way, the run says. */
export function warm(channelId: ChannelID, now = Date.now()) {
  if (now - (said.get(channelId) ?? -AGAIN) < AGAIN) return;
  said.set(channelId, now);
  session().api.containers.warm(channelId).catch(() => said.delete(channelId));
}
