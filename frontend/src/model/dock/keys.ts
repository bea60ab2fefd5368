// Keys of the layout. A terminal with the focus looks at its own table of keys first.
// No key here is one that shells, editors or agents use.
import type { Side } from "./layout";

export type DockKey =
  | { do: "focus"; side: Side }
  | { do: "arrange" } // resizes and moves panes by arrow keys
  | { do: "zoom" }
  | { do: "broadcast" }
  | { do: "tab"; step: 1 | -1 }
  | { do: "number"; n: number };

type KeyLike = { key: string; code: string; ctrlKey: boolean; shiftKey: boolean; altKey: boolean; metaKey: boolean };

const SIDES: Record<string, Side> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

export function sideOf(key: string): Side | undefined {
  return SIDES[key];
}

export function dockKey(e: KeyLike, mac: boolean, inTerminal: boolean): DockKey | null {
  const { ctrlKey: ctrl, shiftKey: shift, altKey: alt, metaKey: meta } = e;
  const side = SIDES[e.key];
  const letter = /^[a-z]$/i.test(e.key) ? e.key.toLowerCase() : /^Key[A-Z]$/.test(e.code) ? e.code.slice(3).toLowerCase() : "";
  if (mac) {
    if (!meta || ctrl) return null;
    if (alt) return side && !shift ? { do: "focus", side } : null;
    if (shift && e.key === "Enter") return { do: "zoom" };
    if (shift && letter === "i") return { do: "broadcast" };
    if (shift && letter === "l") return { do: "arrange" };
    if (shift && e.code === "BracketLeft") return { do: "tab", step: -1 };
    if (shift && e.code === "BracketRight") return { do: "tab", step: 1 };
    return !shift && /^[1-9]$/.test(e.key) ? { do: "number", n: Number(e.key) } : null;
  }
  if (meta) return null;
  if (alt) return side && shift && !ctrl ? { do: "focus", side } : null;
  if (!ctrl) return null;
  if (!shift && e.key === "PageUp") return { do: "tab", step: -1 };
  if (!shift && e.key === "PageDown") return { do: "tab", step: 1 };
  if (shift && letter === "x") return { do: "zoom" };
  if (shift && letter === "b") return { do: "broadcast" };
  if (shift && letter === "l") return { do: "arrange" };
  // In a terminal, Control with 2 to 8 sends characters to the program (NUL, ESC, ^^ and so on).
  if (!shift && !inTerminal && /^[1-9]$/.test(e.key)) return { do: "number", n: Number(e.key) };
  return null;
}

/** The rows of the list of shortcuts. */
export function dockRows(mac: boolean): { keys: string; does: string }[] {
  return [
    { keys: mac ? "⌘⌥ arrows" : "Alt Shift arrows", does: "Go to the pane on that side" },
    { keys: mac ? "⌘⇧L" : "Ctrl Shift L", does: "Arrange: then arrows resize, Shift and arrows move the tab" },
    { keys: mac ? "⌘⇧Enter" : "Ctrl Shift X", does: "Show the pane alone, or all again" },
    { keys: mac ? "⌘⇧I" : "Ctrl Shift B", does: "Type into all visible terminals, or only one again" },
    { keys: mac ? "⌘⇧[ ⌘⇧]" : "Ctrl PgUp PgDn", does: "Previous or next tab" },
    { keys: mac ? "⌘1 … ⌘9" : "Ctrl 1 … 9", does: mac ? "Tab by its number" : "Tab by its number, where no terminal has the focus" },
  ];
}

export function keyOf(what: "zoom" | "broadcast" | "arrange", mac: boolean): string {
  return { zoom: mac ? "⌘⇧Enter" : "Ctrl Shift X", broadcast: mac ? "⌘⇧I" : "Ctrl Shift B", arrange: mac ? "⌘⇧L" : "Ctrl Shift L" }[what];
}
