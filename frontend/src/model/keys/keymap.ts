// The keys in force: those of the table, and instead of them the person's own.
import type { Chord, Platform, Press } from "./chord";
import { aria, matches, parse, same, shown } from "./chord";
import { forbidden, NEEDED } from "./refused";
import type { Action, Place } from "./table";
import { ACTIONS, defaultsOf, PLACES } from "./table";

/** The person's own keys, by action. An empty list: the action has no key. */
export type Chosen = Record<string, string[]>;

export type Keymap = { platform: Platform; chords: Map<string, Chord[]>; places: Map<Place, [id: string, chord: Chord][]> };

/** Places that listen at the same time, so that a key can be only one's. */
const together = (a: Place, b: Place) => a === b || (GLOBAL.includes(a) && GLOBAL.includes(b));
const GLOBAL: Place[] = ["page", "panes"];

/** The chords of a list that an action can have. A key that it cannot have is left out, whoever wrote it. */
function chordsOf(a: Action, keys: readonly string[], platform: Platform): Chord[] {
  return keys.flatMap((k) => {
    const c = parse(k, platform);
    return c && !forbidden(a, c) ? [c] : [];
  });
}

export function keymapOf(platform: Platform, chosen: Chosen): Keymap {
  const own = new Map<string, Chord[]>();
  for (const a of ACTIONS) {
    const keys = chosen[a.id];
    if (!keys || (keys.length === 0 && isNeeded(a.id))) continue;
    const chords = chordsOf(a, keys, platform);
    // Of a list without one usable key nothing is left: what was at first is better than no key.
    if (keys.length === 0 || chords.length > 0) own.set(a.id, chords);
  }
  keepNeeded(own, platform);
  const chords = new Map<string, Chord[]>();
  for (const a of ACTIONS) {
    const mine = own.get(a.id);
    if (mine) {
      chords.set(a.id, mine);
      continue;
    }
    // The person's own choice comes before what another action had at first.
    const taken = [...own].flatMap(([id, list]) => (isNeeded(id) || together(placeOf(id), a.place) ? list : []));
    const rest = defaults(a, platform).filter((c) => !taken.some((t) => same(t, c)));
    chords.set(a.id, rest);
  }
  const places = new Map<Place, [string, Chord][]>();
  for (const own1 of [true, false]) {
    for (const [id, list] of chords) {
      if (own.has(id) !== own1) continue;
      const place = placeOf(id);
      places.set(place, [...(places.get(place) ?? []), ...list.map((c) => [id, c] as [string, Chord])]);
    }
  }
  return { platform, chords, places };
}

/** Gives the needed action its keys before all others, and leaves these keys out of the lists of the others in every place. */
function keepNeeded(own: Map<string, Chord[]>, platform: Platform) {
  for (const a of ACTIONS.filter((x) => isNeeded(x.id))) {
    const kept = own.get(a.id) ?? defaults(a, platform);
    for (const [id, list] of own) {
      const rest = list.filter((c) => !kept.some((k) => same(k, c)));
      if (rest.length > 0 || list.length === 0) own.set(id, rest);
      else own.delete(id);
    }
    own.set(a.id, kept);
  }
}

const defaults = (a: Action, platform: Platform) => defaultsOf(a, platform).flatMap((k) => parse(k, platform) ?? []);

const placeOf = (id: string): Place => id.slice(0, id.indexOf(".")) as Place;

/** Whether an action always keeps a key: without it a person without a mouse could not leave a terminal. */
export const isNeeded = (id: string) => id === NEEDED;

/** The action of a pressed key in a place, or "". */
export function actionAt(map: Keymap, place: Place, e: Press & { altGraph?: boolean; getModifierState?(key: string): boolean }): string {
  const mac = map.platform === "mac";
  if (!mac && e.ctrlKey && e.altKey && (e.altGraph || e.getModifierState?.("AltGraph"))) return ""; // AltGr writes a character
  return map.places.get(place)?.find(([, c]) => matches(c, e, mac))?.[0] ?? "";
}

export const chordsFor = (map: Keymap, id: string): Chord[] => map.chords.get(id) ?? [];

/** The first key of an action as a person reads it, or "". */
export function textOf(map: Keymap, id: string): string {
  const c = chordsFor(map, id)[0];
  return c ? shown(c, map.platform) : "";
}

export const ariaOf = (map: Keymap, id: string): string | undefined => chordsFor(map, id).map(aria).join(" ") || undefined;

export type Clash = { id: string; does: string; hard: boolean; words: string };

/** Actions that have a key already. hard: only one of them can have it, as in the same place. */
export function clashes(map: Keymap, a: Action, c: Chord): Clash[] {
  return ACTIONS.flatMap((b): Clash[] => {
    if (b.id === a.id || !chordsFor(map, b.id).some((x) => same(x, c))) return [];
    if (isNeeded(a.id) || together(a.place, b.place)) return [{ id: b.id, does: b.does, hard: true, words: `“${b.does}” has this key already.` }];
    if (GLOBAL.includes(b.place)) return [{ id: b.id, does: b.does, hard: false, words: `${PLACES[a.place]} this comes before “${b.does}”, which keeps the key elsewhere.` }];
    if (GLOBAL.includes(a.place)) return [{ id: b.id, does: b.does, hard: false, words: `${PLACES[b.place]} the key goes on meaning “${b.does}”.` }];
    return [];
  });
}

/** The other action that had this key at first and lost it to the person's choice, for the row of one without a key. */
export function lostTo(map: Keymap, a: Action, chosen: Chosen): Action | undefined {
  if (chosen[a.id]) return undefined;
  const first = defaults(a, map.platform);
  return ACTIONS.find((b) => b.id !== a.id && chosen[b.id] && (isNeeded(b.id) || together(a.place, b.place)) && chordsFor(map, b.id).some((x) => first.some((y) => same(x, y))));
}
