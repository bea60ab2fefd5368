// Runs on this computer itself, without a container: what the page says of them.
import type { ChannelView, GateStatus } from "../api/types";

export const HOST_TEXT = "On this computer, no container";

export const HOST_WHY =
  "What you prompt in this channel works on this computer itself and can do whatever you can. " +
  "The gate holds nothing, planning is not enforced, and the browser is not kept apart from the agent. Your own settings say so.";

/** The gate as it is for a channel whose runs it cannot hold. */
export function withoutGate(g: GateStatus | null, c: Pick<ChannelView, "on_host"> | undefined): GateStatus | null {
  return g && c?.on_host ? { ...g, state: "off", text: "Gate holds nothing here", why: HOST_WHY, probed: "" } : g;
}

/** The channels with the places that were read again. */
export function placedAs(channels: ChannelView[], read: ChannelView[]): ChannelView[] {
  const here = new Set(read.filter((c) => c.on_host).map((c) => c.channel_id));
  return channels.map((c) => (c.on_host === true) === here.has(c.channel_id) ? c : { ...c, on_host: here.has(c.channel_id) });
}
