// What a person does with prompts that wait.
import type { ChannelID } from "../api/types";
import { setTimeline, toastFailure } from "../model/stores";
import { session } from "./session";

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

/** Letting go of an edit that nobody holds any more is fine. */
export async function release(id: string) {
  await session().api.runs.release(id).catch(() => null);
}

/** The order as Loop has it afterwards is what is shown, also when it refused. */
export async function reorder(channel: ChannelID, ids: string[]) {
  try {
    const queue = await session().api.runs.reorder(channel, ids);
    setTimeline(channel, (t) => ({ ...t, queue: queue ?? [] }));
  } catch (err) {
    toastFailure(err);
    void session().load(channel);
  }
}
