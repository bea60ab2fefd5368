// Names of keys as on the person's keyboard.
import type { Platform } from "../model/terminals/keys";

const says = (what: RegExp) => what.test(navigator.platform || navigator.userAgent);
export const PLATFORM: Platform = says(/mac/i) ? "mac" : says(/win/i) ? "windows" : "linux";
export const isMac = PLATFORM === "mac";
export const MOD = isMac ? "⌘" : "Ctrl";

export function mod(e: { ctrlKey: boolean; metaKey: boolean }): boolean {
  return isMac ? e.metaKey : e.ctrlKey;
}

export function keys(...parts: string[]): string {
  return isMac ? parts.join("").replace("Shift", "⇧") : parts.join(" ");
}

/** True while an input method composes: its Enter key belongs to it, not to the page. */
export function composing(e: { nativeEvent?: { isComposing?: boolean }; keyCode?: number }): boolean {
  return Boolean(e.nativeEvent?.isComposing) || e.keyCode === 229;
}
