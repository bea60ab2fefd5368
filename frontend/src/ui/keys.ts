// Keys as on the person's keyboard: what a pressed one means, and how one is shown.
import { useCallback, useSyncExternalStore } from "react";
import type { Platform, Press } from "../model/keys/chord";
import { actionAt, ariaOf, textOf } from "../model/keys/keymap";
import { keysStore, knowPlatform } from "../model/keys/store";
import type { Place } from "../model/keys/table";

const says = (what: RegExp) => what.test(navigator.platform || navigator.userAgent);
export const PLATFORM: Platform = says(/mac/i) ? "mac" : says(/win/i) ? "windows" : "linux";
export const isMac = PLATFORM === "mac";
export const MOD = isMac ? "⌘" : "Ctrl";
knowPlatform(PLATFORM);

export function mod(e: { ctrlKey: boolean; metaKey: boolean }): boolean {
  return isMac ? e.metaKey : e.ctrlKey;
}

/** The text of a key that no person can change. */
export function keys(...parts: string[]): string {
  return isMac ? parts.join("").replace("Shift", "⇧") : parts.join(" ");
}

/** The action of the table that a pressed key means in a place, or "". */
export const pressed = (place: Place, e: Press): string => actionAt(keysStore.getState().map, place, e);

/** The key of an action as it is now, for what is drawn when it opens. */
export const keyText = (id: string): string => textOf(keysStore.getState().map, id);

/** Texts of the keys of actions, for what stays on the screen while a person changes keys. */
export function useKeyText(): (id: string) => string {
  const { map } = useSyncExternalStore(keysStore.subscribe, keysStore.getState, keysStore.getState);
  return useCallback((id: string) => textOf(map, id), [map]);
}

/** For the attribute aria-keyshortcuts. */
export function useAriaKeys(id: string): string | undefined {
  const { map } = useSyncExternalStore(keysStore.subscribe, keysStore.getState, keysStore.getState);
  return ariaOf(map, id);
}

/** True while an input method composes: its Enter key belongs to it, not to the page. */
export function composing(e: { nativeEvent?: { isComposing?: boolean }; keyCode?: number }): boolean {
  return Boolean(e.nativeEvent?.isComposing) || e.keyCode === 229;
}

const NAVIGATES = /^(Enter|Escape| |Arrow\w+|Home|End|Page\w+)$/;

/** The key itself, if it is one by which lists are used everywhere and no modifier but Shift is down; else "". */
export const navigates = (e: Press): string => (!e.ctrlKey && !e.metaKey && !e.altKey && NAVIGATES.test(e.key) ? e.key : "");

/** What a key means in a list: an action of its place, or one of the keys by which lists are used. */
export const meaning = (place: Place, e: Press): string => pressed(place, e) || navigates(e);

/** Whether a key writes into the text box that has the keyboard, so that it is no shortcut there. */
export function typesInto(e: Press & { target: EventTarget | null }): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey || /^F\d/.test(e.key)) return false;
  return e.target instanceof HTMLElement && (e.target.isContentEditable || e.target.matches("input,textarea,select"));
}
