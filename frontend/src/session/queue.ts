// Actions on prompts that wait.
import type { ChannelID, Run, RunID } from "../api/types";
import { setTimeline, timelineOf, timelinesStore, toast, toastFailure } from "../model/stores";
import { putBack } from "./drafts";
import { texts } from "./questiondrafts";
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
const editQueued = (id: string, prompt: string) => tried(() => session().api.runs.edit(id, prompt));
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

/** Removes a waiting prompt, with an unsaved change to it. */
export async function removeQueued(id: RunID) {
  const change = texts.get(id);
  texts.delete(id); // before Loop tells that the prompt has gone
  if (!(await tried(() => session().api.runs.remove(id))) && change !== undefined) texts.set(id, change);
}

const saving = new Set<RunID>();
const watched = new Map<RunID, () => void>();

/** Saves the change to a waiting prompt. False: it is still unsaved. */
export async function saveEdit(run: Run, prompt: string): Promise<boolean> {
  saving.add(run.run_id);
  const saved = await editQueued(run.run_id, prompt);
  saving.delete(run.run_id);
  if (saved) texts.delete(run.run_id);
  watched.get(run.run_id)?.();
  return saved;
}

/** Called once the editor of a waiting prompt is gone: an unsaved change goes into the prompt box when its prompt has left the queue. */
export function keepEdit(run: Run) {
  const id = run.run_id;
  if (watched.has(id) || !texts.has(id)) return;
  const look = () => {
    const t = timelineOf(timelinesStore.getState(), run.channel_id);
    const text = texts.get(id)?.trim();
    if (text !== undefined && (saving.has(id) || t.phase !== "ready" || t.queue.some((r) => r.run_id === id))) return;
    stop();
    watched.delete(id);
    texts.delete(id);
    if (!text || text === run.prompt.trim()) return;
    putBack(run.channel_id, text, {});
    toast("The prompt that you were editing waits no more. What you wrote is in the prompt box.");
  };
  const stop = timelinesStore.subscribe(look);
  watched.set(id, look);
  look();
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
