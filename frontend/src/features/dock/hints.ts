import type { KeyAction } from "../../model/terminals/keys";
import { keysFor } from "../../model/terminals/keys";
import { platform } from "../terminals/keyboard";

/** Keys as the rest of the page writes them: with spaces, the plus key left as it is. */
export function spaced(keys: string): string {
  return keys.replace(/(?<=.)\+(?=.)/g, " ");
}

export function hintOf(action: KeyAction): string {
  return spaced(keysFor(action, platform()));
}
