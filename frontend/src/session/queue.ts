// Actions on prompts that wait.
import type { ChannelID } from "../api/types";
import { setTimeline, toastFailure } from "../model/stores";
import { session } from "./session";

// Loop holds an edited prompt for five minutes. The editor renews the hold in time.
const RENEW_MS = 120_000;

async function tried(f: () => Promise<unknown>): Promise<boolean> {
  try {
    await f();
    return true;
  } catch (err) {
    toastFailure(err);
    return false;
  }
}

export const hold = (id: string) => tried(() => session().api.runs.hold(id));
export const editQueued = (id: string, prompt: string) => tried(() => session().api.runs.edit(id, prompt));
export const steer = (id: string) => tried(() => session().api.runs.steer(id));

/** Ends the hold of an edited prompt. A failure is no problem: the hold may have ended by itself. */
export async function release(id: string) {
  await session().api.runs.release(id).catch(() => null);
}

/** Renews the hold of a prompt while it is edited. The returned function ends that: a saved prompt is no longer held, any other is released. */
export function keepHeld(id: string): (saved: boolean) => void {
  const t = setInterval(() => void hold(id), RENEW_MS);
  return (saved) => {
    clearInterval(t);
    if (!saved) void release(id);
  };
}

/** Reorders a queue. The page then shows the order that Loop has, even after a refusal. */
export async function reorder(channel: ChannelID, ids: string[]) {
  try {
    const queue = await session().api.runs.reorder(channel, ids);
    setTimeline(channel, (t) => ({ ...t, queue: queue ?? [] }));
  } catch (err) {
    toastFailure(err);
    void session().load(channel);
  }
}
