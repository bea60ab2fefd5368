// The end of Loop: the questions before it, and words for the work that goes on.
import { createStore } from "zustand/vanilla";
import type { Failure } from "../api/types";
import type { Leaving, LeavingKind } from "../api/types";
import { plural } from "./format";

export type LeavingState = { asking: "" | "close" | "quit"; facts: Leaving | null; failure: Failure | null };

export const nothingAsked: LeavingState = { asking: "", facts: null, failure: null };
export const leavingStore = createStore<LeavingState>(() => nothingAsked);

// Programs in containers (“terminal”) are not counted: they do not need Loop.
const WORDS: [LeavingKind, string, string?][] = [
  ["run", "run"], ["program", "program in a terminal", "programs in terminals"], ["recording", "recording"], ["image", "build of the agent image", "builds of the agent image"], ["prompt", "waiting prompt"],
];

/** Counts the work that Loop stays for, in words. */
export function goesOnFor(l: Leaving): string {
  const all = [l.ends, l.goes_on, l.waits].flatMap((items) => items ?? []);
  const parts = WORDS.flatMap(([kind, one, many]) => {
    const n = all.filter((i) => i.kind === kind).length;
    return n > 0 ? [plural(n, one, many)] : [];
  });
  const last = parts.pop() ?? "nothing";
  return parts.length > 0 ? `${parts.join(", ")} and ${last}` : last;
}
