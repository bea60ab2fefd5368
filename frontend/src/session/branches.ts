// Threads, worktrees and conversations, and the way to open questions.
import type { Answer, ChannelID, ChannelView, SessionStart } from "../api/types";
import { frameStore, toast, toastFailure, viewStore } from "../model/stores";
import { focusPrompt, select } from "./actions";
import { session } from "./session";

/** Puts a new channel into the tree without waiting for its event, and selects it. */
function enter(ch: ChannelView) {
  if (!frameStore.getState().channels.some((c) => c.channel_id === ch.channel_id)) {
    frameStore.setState((f) => ({ channels: [...f.channels, ch] }));
  }
  select(ch.channel_id);
  focusPrompt();
}

/** Makes a thread and selects it. It shares its parent's conversation until its first message, which names it. */
export async function newThread(id: ChannelID) {
  try {
    enter(await session().api.channels.createThread({ parent_id: id }));
  } catch (err) {
    toastFailure(err);
  }
}

/** Makes a worktree and selects it. Throws a failure, which the dialog shows. */
export async function newWorktree(id: ChannelID, branch: string, base: string) {
  enter(await session().api.channels.createWorktree({ parent_id: id, branch, name: branch, base }));
}

export async function forkFrom(uuid: string) {
  const id = viewStore.getState().selected;
  try {
    enter(await session().api.channels.forkAt(id, { mode: "fork", at: uuid }, ""));
  } catch (err) {
    toastFailure(err);
  }
}

/** Chooses the conversation for the channel's next message. Throws a failure. */
export async function startWith(id: ChannelID, start: SessionStart) {
  const ch = await session().api.channels.setSession(id, start);
  frameStore.setState((f) => ({ channels: f.channels.map((c) => (c.channel_id === id ? ch : c)) }));
  const words = { resume: "The next message goes on with that conversation.", fork: "The next message begins a copy of that conversation.", fresh: "The next message begins a new conversation." };
  if (start.mode) toast(words[start.mode]);
}

/** Answers a question. Throws if it was answered elsewhere meanwhile, or the answer cannot be stored. */
export async function answer(id: string, a: Answer) {
  const q = await session().api.runs.answer(id, a);
  frameStore.setState((f) => ({ questions: f.questions.filter((x) => x.question_id !== q.question_id) }));
}

/** Moves the keyboard to the question's card, not to one of its buttons. */
export function focusQuestion() {
  document.querySelector<HTMLElement>("[data-region=question]")?.focus();
}

/** Moves the keyboard to what a channel wants to know: its question, what leads to the decision on its image, or else its prompt. */
export function focusNeed() {
  const el = document.querySelector<HTMLElement>("[data-region=question]") ?? document.querySelector<HTMLElement>("[data-decide]");
  if (el) el.focus();
  else focusPrompt();
}
