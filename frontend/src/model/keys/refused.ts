// Keys that an action cannot have, each with the reason that a person reads.
import type { Chord, Platform } from "./chord";
import { isCharacter, isDigit, isLetter, parse, same } from "./chord";
import type { Action, Place } from "./table";
import { defaultsOf } from "./table";

const F = /^F\d+$/;
const plain = (c: Chord) => !c.ctrl && !c.alt && !c.meta;
/** Keys by which every list, button and dialog is used. */
const MOVES = ["Enter", "Escape", "Tab", "Space", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Backspace", "Delete", "Insert"];

/**
 * Whether programs in a terminal get the key: all letters with Ctrl or Alt, Esc, Tab, the
 * function keys, and what edits a line.
 */
export function isPrograms(c: Chord): boolean {
  if (c.meta) return false;
  if (isCharacter(c)) return !(c.ctrl && !c.alt && (c.shift || ["+", "=", "-", "0"].includes(c.key)));
  if (F.test(c.key) || ["Tab", "Escape", "Backspace"].includes(c.key)) return true;
  if (c.key === "Insert" || c.key === "PageUp" || c.key === "PageDown") return plain(c) && !c.shift;
  return !c.shift;
}

/** The action that always keeps a key, which no other one can have in any place. */
export const NEEDED = "page.next-region";

/** Actions that lead out of a terminal, so that its keyboard is no trap. */
const leads = (id: string) => id === NEEDED || id === "page.previous-region";

/** Why an action cannot have a key whoever asks, also by the configuration. "": it can. */
export function forbidden(a: Pick<Action, "id" | "place">, c: Chord): string {
  const mods = c.ctrl || c.meta;
  if (c.key === "Enter" && mods && !c.shift && !c.alt) return "It gives answers: in the card of a held call it allows. No other action can have it.";
  if (isDigit(c.key) && plain(c) && !c.shift) return "Digits choose answers in cards. No other action can have them.";
  if (plain(c) && !c.shift && ["Enter", "Escape", "Tab"].includes(c.key)) return "Every dialog, list and button needs it: it confirms, cancels or moves on.";
  if (c.key === "Tab") return "It moves the keyboard through the page.";
  if (a.place === "terminal" && isPrograms(c)) return "Programs in the terminal need it.";
  if (leads(a.id) && isPrograms(c) && !F.test(c.key)) return "It has to lead out of a terminal, whose programs need this key.";
  if (a.place === "prompt" && plain(c) && isCharacter(c)) return "It writes in the prompt box.";
  return "";
}

const TEXT: Record<string, string> = { A: "selects all", C: "copies", V: "pastes", X: "cuts", Z: "undoes", Y: "redoes" };

const SYSTEM: [Platform | "", string, string][] = [
  ["", "Alt+F4", "closes the window"], ["", "Alt+Tab", "goes to another window"], ["", "Ctrl+Alt+Delete", "belongs to the system"], ["", "Alt+Space", "opens the window's menu"],
  ["mac", "Cmd+Space", "opens the system's search"], ["mac", "Cmd+H", "hides the window"], ["mac", "Cmd+M", "puts the window away"], ["mac", "Cmd+`", "goes to another window"],
  ["mac", "Ctrl+Up", "shows all windows"], ["mac", "Ctrl+Down", "shows the program's windows"], ["mac", "Ctrl+Left", "goes to another desktop"], ["mac", "Ctrl+Right", "goes to another desktop"],
  ["linux", "Ctrl+Alt+T", "opens the desktop's terminal"], ["linux", "Ctrl+Alt+L", "locks the screen"],
];
const BROWSER: [string, string][] = [
  ["Mod+T", "opens a tab"], ["Mod+N", "opens a window"], ["Mod+W", "closes the tab"], ["Mod+Shift+N", "opens a private window"], ["Mod+Shift+T", "opens the tab that was closed last"],
  ["Mod+Shift+W", "closes the window"], ["Ctrl+PageUp", "goes to another tab"], ["Ctrl+PageDown", "goes to another tab"], ["F11", "fills the screen"], ["F12", "opens the developer tools"],
];

/** Why the page does not give an action a key that a person pressed. "": it does. inBrowser: the page is in a browser, not in Loop's window. */
export function refusal(a: Action, c: Chord, { platform, chords }: { platform: Platform; chords: ReadonlyMap<string, Chord[]> }, inBrowser: boolean): string {
  if (a.id !== NEEDED && chords.get(NEEDED)?.some((k) => same(k, c))) return "It goes to the next region, which is the way out of a terminal. Give that action another key first.";
  const own = defaultsOf(a, platform).some((k) => { const d = parse(k, platform); return d !== null && same(d, c); });
  const why = forbidden(a, c);
  if (why || own) return why;
  const is = (text: string) => { const d = parse(text, platform); return d !== null && same(d, c); };
  const system = SYSTEM.find(([p, text]) => (p === "" || p === platform) && is(text));
  if (system) return `The system keeps it: it ${system[2]}.`;
  if (platform !== "mac" && c.meta) return "The system keeps the keys with its own modifier.";
  const browser = inBrowser && BROWSER.find(([text]) => is(text));
  if (browser) return `The browser keeps it: it ${browser[1]}.`;
  if (platform === "windows" && c.ctrl && c.alt && isCharacter(c)) return "Ctrl and Alt are AltGr on Windows, which writes characters.";
  if ((platform === "mac" ? c.meta : c.ctrl) && !c.alt && !c.shift && isLetter(c.key) && TEXT[c.key] && EDITS.includes(a.place)) return `It ${TEXT[c.key]} in every text box.`;
  if (plain(c) && !c.shift && MOVES.includes(c.key)) return "Lists, buttons and text boxes need it: it moves, opens or deletes.";
  return "";
}
const EDITS: Place[] = ["page", "panes", "prompt"];
