// Conversations in terminals: where they are held, and going on with them by prompts.
import type { TerminalInfo, TerminalTalk } from "../api/types";
import { openPanel } from "../dock/dock";
import { frameStore, toast, toastFailure } from "../model/stores";
import type { Sessions } from "../model/terminals/sessions";
import { wishesStore } from "../model/wish";
import { focusPrompt } from "./actions";
import { startWith } from "./branches";
import { setWish, wishIn } from "./drafts";

/** The terminal of a talk, as long as its program runs. */
export function talkTerminal(s: Sessions, t: TerminalTalk): TerminalInfo | undefined {
  const found = t.terminal_id ? s.byId[t.terminal_id] : undefined;
  return found?.state === "ended" ? undefined : found;
}

/** Shows the terminal, in the panel that shows it already or in another one. */
export function showTalkTerminal(t: TerminalInfo) {
  openPanel({ kind: "terminal", data: { session: t.session_id, target: t.target, ...(t.plain || t.cmd?.length ? { plain: true } : {}) } });
}

/** The next prompt goes on with the conversation, whatever was chosen for it before. */
export async function goOnWithTalk(t: TerminalTalk) {
  const channel = frameStore.getState().channels.find((c) => c.channel_id === t.channel_id);
  const { fresh } = wishIn(wishesStore.getState(), t.channel_id);
  try {
    if (channel?.session_id === t.session_id && !channel.next_session?.mode && !fresh) toast("The next prompt goes on with that conversation.");
    else await startWith(t.channel_id, { mode: "resume", session_id: t.session_id });
    if (fresh) setWish(t.channel_id, { fresh: false }); // it would come before that
    focusPrompt();
  } catch (err) {
    toastFailure(err);
  }
}
