import type { KeyAction } from "../model/terminals/keys";
import { keysFor, spaced } from "../model/terminals/keys";
import { PLATFORM } from "../ui/keys";

export { spaced } from "../model/terminals/keys";

export function hintOf(action: KeyAction): string {
  return spaced(keysFor(action, PLATFORM));
}
