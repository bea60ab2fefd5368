// The keymap of this page. ui/keys.ts says on which system it runs, and the session which keys the person chose.
import { createStore } from "zustand/vanilla";
import type { Platform } from "./chord";
import type { Chosen, Keymap } from "./keymap";
import { keymapOf } from "./keymap";

export type KeysState = { chosen: Chosen; map: Keymap };

export const keysStore = createStore<KeysState>(() => ({ chosen: {}, map: keymapOf("linux", {}) }));

export function knowPlatform(platform: Platform) {
  keysStore.setState((s) => ({ map: keymapOf(platform, s.chosen) }));
}

/** Takes the person's keys as Loop has them. */
export function chooseKeys(all: Record<string, string[] | null>) {
  const chosen: Chosen = Object.fromEntries(Object.entries(all).map(([id, keys]) => [id, keys ?? []]));
  const { chosen: before, map } = keysStore.getState();
  if (JSON.stringify(before) !== JSON.stringify(chosen)) keysStore.setState({ chosen, map: keymapOf(map.platform, chosen) });
}
