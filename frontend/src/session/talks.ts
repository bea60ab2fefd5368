// Conversations in terminals: where they are held, and going on with them by prompts.
import type { TerminalInfo, TerminalTalk } from "../api/types";
import { openPanel } from "../dock/dock";
import { toast, toastFailure } from "../model/stores";
import type { Sessions } from "../model/terminals/sessions";
import { focusPrompt } from "./actions";
import { startWith } from "./branches";

/** The terminal of a talk, as long as its program runs. */
export function talkTerminal(s: Sessions, t: TerminalTalk): TerminalInfo | undefined {
  const found = t.terminal_id ? s.byId[t.terminal_id] : undefined;
  return found?.state === "ended" ? undefined : found;
}

/** Shows the terminal, in the panel that shows it already or in another one. */
export function showTalkTerminal(t: TerminalInfo) {
  openPanel({ kind: "terminal", data: { session: t.session_id, target: t.target, ...(t.plain || t.cmd?.length ? { plain: true } : {}) } });
}

/** The next prompt goes on with the conversation. goesOn: it would anyhow. */
export async function goOnWithTalk(t: TerminalTalk, goesOn: boolean) {
  try {
    if (goesOn) toast("The next prompt goes on with that conversation.");
    else await startWith(t.channel_id, { mode: "resume", session_id: t.session_id });
    focusPrompt();
  } catch (err) {
    toastFailure(err);
  }
}
