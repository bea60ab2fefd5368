// The keys that a terminal pane keeps for itself. Every other key goes to the program:
// Ctrl and a letter, Alt and a letter, Esc, Tab, function keys.

export type Platform = "mac" | "linux" | "windows";

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
};

export type KeyState = {
  hasSelection: boolean;
  tabMoves: boolean; // Tab moves the focus (Ctrl+Shift+M changes this)
  shiftEnter: boolean; // Shift+Enter sends \ and CR
  leaveByF6: boolean;
};

/** The state while no terminal has the focus. */
export const NEUTRAL: KeyState = { hasSelection: false, tabMoves: false, shiftEnter: false, leaveByF6: false };

export type KeyAction =
  | "copy" | "copy-and-clear" | "paste" | "find"
  | "split-right" | "split-down" | "new" | "close"
  | "zoom-in" | "zoom-out" | "zoom-reset" | "clear"
  | "page-up" | "page-down" | "scroll-top" | "scroll-bottom"
  | "previous-command" | "next-command" | "palette" | "quit"
  | "newline" | "tab-moves" | "next-region" | "previous-region"
  | "browser" // neither the program nor the pane takes the key: the browser moves the focus
  | "pass";

/** A row in the list of shortcuts. The keys are those of each system. */
export type KeyRow = { action: KeyAction; does: string; mac: string[]; linux: string[]; windows: string[] };

const LETTERS: Record<string, KeyAction> = { c: "copy", v: "paste", f: "find", t: "new", w: "close", p: "palette" };
const OTHERS: Record<string, KeyAction> = { ...LETTERS, d: "split-right", e: "split-down", k: "clear", m: "tab-moves", q: "quit" };
const MAC: Record<string, KeyAction> = { c: "copy", v: "paste", f: "find", t: "new", w: "close", d: "split-right", k: "clear", q: "quit" };

/** The letter of a key: the typed one if it is Latin, else by the key's place, so that shortcuts work on a Russian layout. */
function letter(e: KeyLike): string {
  if (/^[a-z]$/i.test(e.key)) return e.key.toLowerCase();
  if (e.key.length === 1 && e.key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(e.code)) return e.code.slice(3).toLowerCase();
  return "";
}

function zoom(e: KeyLike): KeyAction | "" {
  // Ctrl+Shift+minus goes to the program: it is Ctrl+_, the undo of shells and editors.
  if (e.key === "+" || (e.key === "=" && !e.shiftKey) || e.code === "NumpadAdd") return "zoom-in";
  if ((e.key === "-" && !e.shiftKey) || e.code === "NumpadSubtract") return "zoom-out";
  if (e.key === "0" && !e.shiftKey) return "zoom-reset";
  return "";
}

export function keyAction(e: KeyLike, platform: Platform, s: KeyState): KeyAction {
  if (e.type !== "keydown" || e.isComposing || e.keyCode === 229) return "pass";
  const { ctrlKey: ctrl, shiftKey: shift, altKey: alt, metaKey: meta } = e;
  if (e.key === "F6" && s.leaveByF6 && !ctrl && !alt && !meta) return shift ? "previous-region" : "next-region";
  if (e.key === "Tab" && s.tabMoves && !ctrl && !alt && !meta) return "browser";
  if (ctrl && shift && !alt && !meta && letter(e) === "m") return "tab-moves";
  if (alt) return "pass";
  if (shift && !ctrl && !meta) {
    if (e.key === "Enter") return s.shiftEnter ? "newline" : "pass";
    if (e.key === "PageUp") return "page-up";
    if (e.key === "PageDown") return "page-down";
    if (platform !== "mac") {
      if (e.key === "Home") return "scroll-top";
      if (e.key === "End") return "scroll-bottom";
      if (e.key === "Insert") return "paste";
    }
    return "pass";
  }
  return platform === "mac" ? macAction(e) : otherAction(e, platform, s);
}

function macAction(e: KeyLike): KeyAction {
  if (!e.metaKey || e.ctrlKey) return "pass";
  const z = zoom(e);
  if (z) return z;
  const l = letter(e);
  if (e.shiftKey) return l === "d" ? "split-down" : l === "p" ? "palette" : "pass";
  if (l) return MAC[l] ?? "pass";
  if (e.key === "Home") return "scroll-top";
  if (e.key === "End") return "scroll-bottom";
  if (e.key === "ArrowUp") return "previous-command";
  if (e.key === "ArrowDown") return "next-command";
  return "pass";
}

function otherAction(e: KeyLike, platform: Platform, s: KeyState): KeyAction {
  if (!e.ctrlKey || e.metaKey) return "pass";
  const z = zoom(e);
  if (z) return z;
  const l = letter(e);
  if (e.shiftKey) {
    if (l) return OTHERS[l] ?? "pass";
    if (e.key === "ArrowUp") return "previous-command";
    if (e.key === "ArrowDown") return "next-command";
    return "pass";
  }
  if (e.key === "Insert") return "copy";
  if (platform === "windows" && l === "c" && s.hasSelection) return "copy-and-clear";
  if (platform === "windows" && l === "v") return "paste";
  return "pass";
}

const both = (...keys: string[]) => ({ linux: keys, windows: keys });

/** The same table for people. A test compares it with keyAction. */
export const KEY_ROWS: KeyRow[] = [
  { action: "copy", does: "Copy", mac: ["⌘C"], linux: ["Ctrl+Shift+C", "Ctrl+Insert"], windows: ["Ctrl+Shift+C", "Ctrl+Insert"] },
  { action: "copy-and-clear", does: "Copy the selection", mac: [], linux: [], windows: ["Ctrl+C"] },
  { action: "paste", does: "Paste", mac: ["⌘V"], linux: ["Ctrl+Shift+V", "Shift+Insert"], windows: ["Ctrl+V", "Ctrl+Shift+V", "Shift+Insert"] },
  { action: "find", does: "Find", mac: ["⌘F"], ...both("Ctrl+Shift+F") },
  { action: "split-right", does: "Split right", mac: ["⌘D"], ...both("Ctrl+Shift+D") },
  { action: "split-down", does: "Split down", mac: ["⌘⇧D"], ...both("Ctrl+Shift+E") },
  { action: "new", does: "New terminal", mac: ["⌘T"], ...both("Ctrl+Shift+T") },
  { action: "close", does: "Close the pane", mac: ["⌘W"], ...both("Ctrl+Shift+W") },
  { action: "zoom-in", does: "Larger text", mac: ["⌘+", "⌘="], ...both("Ctrl++", "Ctrl+=") },
  { action: "zoom-out", does: "Smaller text", mac: ["⌘-"], ...both("Ctrl+-") },
  { action: "zoom-reset", does: "Normal text", mac: ["⌘0"], ...both("Ctrl+0") },
  { action: "clear", does: "Clear", mac: ["⌘K"], ...both("Ctrl+Shift+K") },
  { action: "page-up", does: "Page up", mac: ["⇧PgUp"], ...both("Shift+PgUp") },
  { action: "page-down", does: "Page down", mac: ["⇧PgDn"], ...both("Shift+PgDn") },
  { action: "scroll-top", does: "To the beginning", mac: ["⌘Home"], ...both("Shift+Home") },
  { action: "scroll-bottom", does: "To the end", mac: ["⌘End"], ...both("Shift+End") },
  { action: "previous-command", does: "Previous command", mac: ["⌘↑"], ...both("Ctrl+Shift+↑") },
  { action: "next-command", does: "Next command", mac: ["⌘↓"], ...both("Ctrl+Shift+↓") },
  { action: "palette", does: "Go to a channel or command", mac: ["⌘⇧P"], ...both("Ctrl+Shift+P") },
  { action: "quit", does: "Quit Loop", mac: ["⌘Q"], ...both("Ctrl+Shift+Q") },
  { action: "newline", does: "New line in the agent's prompt", mac: ["⇧Enter"], ...both("Shift+Enter") },
  { action: "tab-moves", does: "Let Tab move the focus, or not", mac: ["⌃⇧M"], ...both("Ctrl+Shift+M") },
  { action: "next-region", does: "Out of the terminal", mac: ["F6"], ...both("F6") },
  { action: "previous-region", does: "Out of the terminal, backwards", mac: ["⇧F6"], ...both("Shift+F6") },
];

export function keysFor(action: KeyAction, platform: Platform): string {
  return KEY_ROWS.find((r) => r.action === action)?.[platform][0] ?? "";
}

/** Writes keys as the rest of the page does: with spaces instead of plus signs. The plus key keeps its name. */
export function spaced(keys: string): string {
  return keys.replace(/(?<=.)\+(?=.)/g, " ");
}
