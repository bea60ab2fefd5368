// Keys of the layout. A terminal with the focus looks at its own table of keys first.
import type { Press } from "../keys/chord";
import { chordOf } from "../keys/chord";
import type { Keymap } from "../keys/keymap";
import { actionAt } from "../keys/keymap";
import { isPrograms } from "../keys/refused";
import type { Side } from "./layout";

export type DockKey =
  | { do: "focus"; side: Side }
  | { do: "arrange" } // resizes and moves panes by arrow keys
  | { do: "zoom" }
  | { do: "broadcast" }
  | { do: "tab"; step: 1 | -1 }
  | { do: "number"; n: number };

const SIDES: Record<string, Side> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

export function sideOf(key: string): Side | undefined {
  return SIDES[key];
}

const DOES: Record<string, DockKey> = {
  "panes.left": { do: "focus", side: "left" }, "panes.right": { do: "focus", side: "right" }, "panes.up": { do: "focus", side: "up" }, "panes.down": { do: "focus", side: "down" },
  "panes.arrange": { do: "arrange" }, "panes.zoom": { do: "zoom" }, "panes.broadcast": { do: "broadcast" },
  "panes.previous-tab": { do: "tab", step: -1 }, "panes.next-tab": { do: "tab", step: 1 },
};

export function dockKey(e: Press, map: Keymap, inTerminal: boolean): DockKey | null {
  const mac = map.platform === "mac";
  const chord = chordOf(e, mac);
  if (!chord || (inTerminal && isPrograms(chord))) return null;
  const does = DOES[actionAt(map, "panes", e)];
  if (does) return does;
  // In a terminal, Control with 2 to 8 sends characters to the program (NUL, ESC, ^^ and so on).
  const onlyMod = mac ? e.metaKey && !e.ctrlKey : e.ctrlKey && !e.metaKey && !inTerminal;
  return onlyMod && !e.altKey && !e.shiftKey && /^[1-9]$/.test(e.key) ? { do: "number", n: Number(e.key) } : null;
}
