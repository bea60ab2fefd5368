// Texts of the keys for lists of them, and the search in such a list.
import type { Chord, Platform } from "./chord";
import { parse, same, shown } from "./chord";
import type { Keymap } from "./keymap";
import { chordsFor } from "./keymap";
import type { Action, Fixed } from "./table";
import { ACTIONS, PLACES } from "./table";

/** All keys of an action, or "". */
export const rowText = (map: Keymap, id: string): string => chordsFor(map, id).map((c) => shown(c, map.platform)).join(", ");

/** The keys of a fixed row. Two digits are a range. */
export function fixedText(f: Fixed, platform: Platform): string {
  const texts = f.keys.map((k) => { const c = parse(k, platform); return c ? shown(c, platform) : k; });
  return texts.join(/\d$/.test(f.keys[0] ?? "") ? " – " : " ");
}

/** The actions that a search finds: by words of their name and place, or by a key. */
export function found(map: Keymap, query: string, key: Chord | null): Action[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return ACTIONS.filter((a) => {
    if (key && !chordsFor(map, a.id).some((c) => same(c, key))) return false;
    const text = `${a.does} ${PLACES[a.place]}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
}
