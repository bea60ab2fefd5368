// The person's own keys, kept in Loop's settings, so that all pages and the next start have them.
import { clashes } from "../model/keys/keymap";
import type { Chosen } from "../model/keys/keymap";
import { chooseKeys, keysStore } from "../model/keys/store";
import type { Chord } from "../model/keys/chord";
import { parse, same, write } from "../model/keys/chord";
import type { Action } from "../model/keys/table";
import { session } from "./session";

const FIELD = "keys";

/** Stores keys of actions one after the other; null: as they were at first. Settles once Loop has them. */
async function store(changes: Record<string, string[] | null>) {
  const { settings } = session().api;
  for (const [id, keys] of Object.entries(changes)) {
    if (keys) await settings.set("global", "", `${FIELD}.${id}`, keys);
    else await settings.unset("global", "", `${FIELD}.${id}`);
    const next: Chosen = { ...keysStore.getState().chosen };
    if (keys) next[id] = keys;
    else delete next[id];
    chooseKeys(next); // the event says the same, a moment later
  }
}

const texts = (id: string): string[] => {
  const { map } = keysStore.getState();
  return (map.chords.get(id) ?? []).map((c) => write(c, map.platform));
};

/** Gives an action a key: instead of those that it has, or besides them. Actions of the same place that have it lose it. */
export async function giveKey(a: Action, c: Chord, besides: boolean) {
  const { map, chosen } = keysStore.getState();
  const changes: Record<string, string[] | null> = {};
  for (const other of clashes(map, a, c)) {
    // One that has it only at first loses it by this choice, and gets it back when that is reset.
    if (other.hard && chosen[other.id]) changes[other.id] = texts(other.id).filter((k) => { const d = parse(k, map.platform); return !d || !same(d, c); });
  }
  const key = write(c, map.platform);
  await store({ ...changes, [a.id]: besides ? [...texts(a.id).filter((k) => k !== key), key] : [key] });
}

export const removeKeys = (a: Action) => store({ [a.id]: [] });
export const resetKeys = (a: Action) => store({ [a.id]: null });

export async function resetAllKeys() {
  await session().api.settings.unset("global", "", FIELD);
  chooseKeys({});
}
