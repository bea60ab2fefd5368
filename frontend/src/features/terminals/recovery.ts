// Recovers a terminal from a killed full-screen program. Such a program leaves reports of
// mouse and focus on, and the shell takes the reports for typed text. A shell that draws a
// prompt wants neither.
import type { Terminal } from "@xterm/xterm";
import { reportsFocus, reportsMouse, stopReports } from "./core";

/** Ends the reports at a prompt (OSC 133 A). Bracketed paste stays, because the shell itself turned it on. */
export function recoverAtPrompt(term: Terminal): boolean {
  if (!reportsMouse(term) && !reportsFocus(term)) return false;
  stopReports(term);
  return true;
}

/** Ends the reports with the session: no program reads them any more, and the mouse must select text. */
export function recoverAtEnd(term: Terminal) {
  stopReports(term);
  term.write("\u001b[?2004l\u001b[?2026l\u001b[?1l\u001b>\u001b[?25l");
}
