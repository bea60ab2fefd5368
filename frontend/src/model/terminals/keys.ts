// The keys that a terminal pane keeps for itself. Every other key goes to the program:
// Ctrl and a letter, Alt and a letter, Esc, Tab, function keys.
import { chordOf } from "../keys/chord";
import type { Keymap } from "../keys/keymap";
import { actionAt } from "../keys/keymap";
import { isPrograms } from "../keys/refused";

export type KeyLike = {
  type: string;
  key: string;
  code: string;
  keyCode: number;
  ctrlKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  isComposing: boolean;
  getModifierState?(key: string): boolean;
};

export type KeyState = {
  hasSelection: boolean;
  tabMoves: boolean; // Tab moves the focus
  shiftEnter: boolean; // Shift+Enter sends \ and CR
  leaveByF6: boolean;
};

export type KeyAction =
  | "copy" | "copy-and-clear" | "paste" | "find"
  | "split-right" | "split-down" | "new" | "close"
  | "zoom-in" | "zoom-out" | "zoom-reset" | "clear"
  | "page-up" | "page-down" | "scroll-top" | "scroll-bottom"
  | "previous-command" | "next-command"
  | "newline" | "tab-moves"
  | "page" // an action of the page, which gets the key as the event bubbles
  | "browser" // neither the program nor the pane takes the key: the browser moves the focus
  | "pass";

/** The action of the table of keys that an action of a pane is. */
export const tableName = (action: KeyAction): string => (PANES.includes(action) ? `panes.${action}` : `terminal.${action}`);
const PANES: string[] = ["split-right", "split-down", "new", "close"];

export function keyAction(e: KeyLike, map: Keymap, s: KeyState): KeyAction {
  if (e.type !== "keydown" || e.isComposing || e.keyCode === 229) return "pass";
  const { ctrlKey: ctrl, shiftKey: shift, altKey: alt, metaKey: meta } = e;
  if (e.key === "Tab" && s.tabMoves && !ctrl && !alt && !meta) return "browser";
  const own = actionAt(map, "terminal", e).slice("terminal.".length) as KeyAction | "";
  if (own === "newline") return s.shiftEnter ? own : "pass";
  if (own) return own;
  // Without a selection Ctrl+C goes to the program.
  if (map.platform === "windows" && s.hasSelection && ctrl && !shift && !alt && !meta && e.key.toLowerCase() === "c") return "copy-and-clear";
  const chord = chordOf(e, map.platform === "mac");
  const page = actionAt(map, "page", e);
  if (page === "page.next-region" || page === "page.previous-region") return s.leaveByF6 ? "page" : "pass";
  if (!chord || isPrograms(chord)) return "pass";
  const pane = actionAt(map, "panes", e).slice("panes.".length);
  if (PANES.includes(pane)) return pane as KeyAction;
  return page ? "page" : "pass";
}
