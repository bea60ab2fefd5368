// A full-screen program that was killed leaves the terminal reporting mouse and
// focus, and the shell takes the reports for typing. A prompt is drawn by a shell
// that wants neither.
import type { Terminal } from "@xterm/xterm";
import { reportsFocus, reportsMouse, stopReports } from "./core";

/** At a prompt (OSC 133 A). Bracketed paste is the shell's own and stays. */
export function recoverAtPrompt(term: Terminal): boolean {
  if (!reportsMouse(term) && !reportsFocus(term)) return false;
  stopReports(term);
  return true;
}

/** When the session ended: nothing reads any more, and selecting must work. */
export function recoverAtEnd(term: Terminal) {
  stopReports(term);
  term.write("\u001b[?2004l\u001b[?2026l\u001b[?1l\u001b>\u001b[?25l");
}
