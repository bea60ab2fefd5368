// Keys of the page's surface as the browser takes them.
import type { BrowserInput } from "../../api/browser-messages";

export type Keystroke = { key: string; code: string; keyCode: number; altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altGraph: boolean };

const ALT = 1;
const CTRL = 2;
const META = 4;
const SHIFT = 8;

/** The key of a shortcut that works wherever the keyboard is, while the panel is open. */
export function panelKey(e: Pick<Keystroke, "key" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">, mac: boolean): "baton" | "pick" | "" {
  if (!(mac ? e.metaKey : e.ctrlKey) || !e.shiftKey || e.altKey) return "";
  return ({ g: "baton", s: "pick" } as const)[e.key.toLowerCase()] ?? "";
}

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

/** What a key of the surface does besides reaching the page. */
export function meansOf(e: Keystroke, mac: boolean): Means {
  const mod = mac ? e.metaKey : e.ctrlKey;
  const key = e.key.toLowerCase();
  if (/^F(6|8)$/.test(e.key) || (mod && e.shiftKey && key === "p")) return "app";
  if (mod && e.shiftKey && key === "g") return "baton";
  if (mod && e.shiftKey && key === "s") return "pick";
  if (e.key === "F5") return "reload";
  if (e.altKey && !e.ctrlKey && !e.metaKey && !e.shiftKey && !mac) return ({ ArrowLeft: "back", ArrowRight: "forward" } as const)[e.key] ?? "none";
  if (!mod || e.altKey || e.altGraph) return "none";
  if (key === "+" || key === "=") return "larger";
  if (e.shiftKey) return "none";
  return ({ c: "copy", x: "cut", v: "paste", f: "find", k: "app", r: "reload", "-": "smaller", 0: "as-is", "[": mac ? "back" : "none", "]": mac ? "forward" : "none" } as const)[key] ?? "none";
}
