// Asks whether a project's settings may do what they want, as soon as its folder is opened.
import type { ChannelID } from "../api/types";
import { frameStore } from "../model/stores";
import { session } from "./session";

const looked = new Set<ChannelID>();

/** Looks once whether settings of a channel's project wait for approval, and returns whether they do. */
export async function waitsForTrust(channel: ChannelID): Promise<boolean> {
  const kind = frameStore.getState().channels.find((c) => c.channel_id === channel)?.kind;
  if (looked.has(channel) || !kind || kind === "demo") return false;
  looked.add(channel);
  try {
    const { pending } = await session().api.settings.get(channel);
    const p = pending?.[0];
    if (!p) return false;
    const fields = pending.flatMap((one) => one.fields ?? []);
    frameStore.setState((f) => ({ trust: { ...f.trust, [channel]: { channel_id: channel, path: p.path, sha256: p.sha256, fields } } }));
    return true;
  } catch {
    looked.delete(channel); // the next visit looks again; a run asks by itself
    return false;
  }
}
