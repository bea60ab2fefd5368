// Keys of the page's surface as the browser takes them.
import type { BrowserInput } from "../../api/browser-messages";
import type { Keymap } from "../keys/keymap";
import { actionAt } from "../keys/keymap";

export type Keystroke = { key: string; code: string; keyCode: number; altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altGraph: boolean };

const ALT = 1;
const CTRL = 2;
const META = 4;
const SHIFT = 8;

/** The modifiers as the DevTools protocol counts them. On a Mac Cmd does what Ctrl does in the container's Chromium. */
export function modifiersOf(e: Pick<Keystroke, "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "altGraph">, mac: boolean): number {
  const ctrl = e.ctrlKey || (mac && e.metaKey);
  const typed = e.altGraph; // AltGr is reported as Ctrl and Alt, and only chooses another character
  return (e.altKey && !typed ? ALT : 0) | (ctrl && !typed ? CTRL : 0) | (e.metaKey && !mac ? META : 0) | (e.shiftKey ? SHIFT : 0);
}

/** The input of a key. A key that writes a character has it as text, unless a modifier makes a command of it. */
export function keyInput(e: Keystroke, down: boolean, mac: boolean): BrowserInput {
  const modifiers = modifiersOf(e, mac);
  const writes = [...e.key].length === 1 && (modifiers & (CTRL | META)) === 0 && ((modifiers & ALT) === 0 || mac);
  const text = writes ? e.key : e.key === "Enter" ? "\r" : "";
  return { kind: down ? "keydown" : "keyup", key: e.key, code: e.code, key_code: e.keyCode, modifiers, ...(down && text ? { text } : {}) };
}

export type Means = "copy" | "cut" | "paste" | "find" | "baton" | "pick" | "app" | "reload" | "back" | "forward" | "larger" | "smaller" | "as-is" | "none";

/** Actions of Loop's page that keep their keys while the browser's page has the keyboard. */
const APP = ["page.palette", "page.next-region", "page.previous-region", "page.next-waiting", "page.previous-waiting"];
const CLIPBOARD: Record<string, Means> = { c: "copy", x: "cut", v: "paste" };

/** What a key of the surface does besides reaching the page. */
export function meansOf(e: Keystroke, map: Keymap): Means {
  const own = actionAt(map, "browser", e);
  if (own) return own.slice("browser.".length) as Means;
  if (APP.includes(actionAt(map, "page", e))) return "app";
  const mod = map.platform === "mac" ? e.metaKey : e.ctrlKey;
  return mod && !e.altKey && !e.shiftKey && !e.altGraph ? (CLIPBOARD[e.key.toLowerCase()] ?? "none") : "none";
}
