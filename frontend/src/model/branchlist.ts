// The branches that a worktree can be of, or begin from.
import type { Branch, BranchList } from "../api/types";
import { plural } from "./format";

const MOST = 50; // rows; typing finds the others

/** The branches that have all typed words, in their order. */
export function branchesFor(all: readonly Branch[], typed: string): Branch[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((b) => words.every((w) => b.name.toLowerCase().includes(w))).slice(0, MOST);
}

/** Where a branch is checked out; "" for nowhere. */
export function placeOf(b: Branch): string {
  if (b.current) return "current";
  if (b.in) return `in “${b.in}”`;
  return b.where ? "checked out elsewhere" : "";
}

/** What stays behind when a worktree is made; "" for nothing. */
export function staysBehind(list: BranchList | null): string {
  const n = list?.changes ?? 0;
  if (n === 0) return "";
  const some = (list?.changed ?? []).slice(0, 3);
  const rest = n - some.length;
  return `${plural(n, "file")} of this folder ${n === 1 ? "has changes that are" : "have changes that are"} not committed: ${some.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}. They stay here: the worktree begins without them.`;
}
