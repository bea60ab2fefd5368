// An agent's copy of a folder beside the original: what differs, and which way it would go.
import { diffLines } from "diff";
import type { CopyComparison, CopyDifference } from "../api/types";

/** The kind of the panel. */
export const WORKSPACE_PANEL = "workspace";

/** What comes back with the panel: the file whose difference it shows. */
export type WorkspaceKept = { path: string };

/** Where a difference would go: into the original, into the copy, or where a person says. */
export type Way = "promote" | "pull" | "choose";

const WAYS: Record<string, Way> = { new: "promote", changed: "promote", removed: "promote", "original-new": "pull", "original-changed": "pull", "original-removed": "pull", both: "choose" };

/** A state that this page does not know is for the person to decide. */
export const wayOf = (d: CopyDifference): Way => WAYS[d.state] ?? "choose";

const WORDS: Record<string, string> = { new: "new", changed: "changed", removed: "removed", both: "both changed" };
export const stateWord = (d: CopyDifference): string => WORDS[d.state.replace("original-", "")] ?? d.state;

/** How a difference is read out. */
export function stateSentence(d: CopyDifference): string {
  return d.state === "both" ? "changed in both" : `${stateWord(d)} in the ${wayOf(d) === "pull" ? "original" : "copy"}`;
}

export type Row = { kind: "folder"; path: string; count: number; open: boolean } | { kind: "file"; path: string; name: string; level: number; d: CopyDifference };

const folderOf = (path: string): string => (path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");

const OPEN_FILES = 60; // with more, folders begin closed

/** Whether a folder is open before the person says anything. */
export const openAtFirst = (c: CopyComparison): boolean => (c.differences ?? []).length <= OPEN_FILES;

/** Folders with their files, then the files that are in none. turned: folders that are not as they were at first. */
export function rowsOf(c: CopyComparison, turned: ReadonlySet<string>, filter = ""): Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fit = (c.differences ?? []).filter((d) => words.every((w) => d.path.toLowerCase().includes(w)));
  const by = new Map<string, CopyDifference[]>();
  for (const d of fit) by.set(folderOf(d.path), [...(by.get(folderOf(d.path)) ?? []), d]);
  const folders = [...by.keys()].filter(Boolean).sort();
  const file = (d: CopyDifference, level: number): Row => ({ kind: "file", path: d.path, name: d.path.slice(folderOf(d.path).length && folderOf(d.path).length + 1), level, d });
  return [
    ...folders.flatMap((path): Row[] => {
      const files = by.get(path) ?? [];
      const open = words.length > 0 || openAtFirst(c) !== turned.has(path);
      return [{ kind: "folder", path, count: files.length, open }, ...(open ? files.map((d) => file(d, 2)) : [])];
    }),
    ...(by.get("") ?? []).map((d) => file(d, 1)),
  ];
}

/** The files that are ticked before the person says anything: what only the agent changed. */
export const tickedAtFirst = (c: CopyComparison): Set<string> => new Set((c.differences ?? []).filter((d) => wayOf(d) === "promote").map((d) => d.path));

/** The marks of the ticked files that go one way. A file that no longer differs has none. */
export function marksOf(c: CopyComparison, ticked: ReadonlySet<string>, way: Way): Record<string, string> {
  return Object.fromEntries((c.differences ?? []).filter((d) => ticked.has(d.path) && wayOf(d) === way).map((d) => [d.path, d.mark]));
}

/** What is lost with the copy: what the agent made, changed or removed. */
export const lossesOf = (c: CopyComparison): CopyDifference[] => (c.differences ?? []).filter((d) => wayOf(d) !== "pull");

/** One row of a side-by-side view. A side without a line has a number of 0. */
export type Pair = { left: string; leftNo: number; right: string; rightNo: number; kind: "same" | "change" | "cut" };

const AROUND = 3; // equal lines that are shown beside a change
const MOST_EDITS = 20_000;

/** Both texts side by side, without the equal lines that are far from a change. null: too different to compare. */
export function sideBySide(original: string, copied: string): Pair[] | null {
  const parts = diffLines(original, copied, { maxEditLength: MOST_EDITS });
  if (!parts) return null;
  const all: Pair[] = [];
  const no = { left: 0, right: 0 };
  const lines = (text: string) => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  for (let i = 0; i < parts.length; i++) {
    const p = parts[i];
    if (!p) continue;
    if (!p.added && !p.removed) {
      for (const l of lines(p.value)) all.push({ left: l, leftNo: ++no.left, right: l, rightNo: ++no.right, kind: "same" });
      continue;
    }
    const next = parts[i + 1];
    const both = p.removed && next?.added;
    const gone = p.removed ? lines(p.value) : [];
    const come = p.added ? lines(p.value) : both ? lines(next.value) : [];
    if (both) i++;
    for (let k = 0; k < Math.max(gone.length, come.length); k++) {
      const left = gone[k], right = come[k];
      all.push({ left: left ?? "", leftNo: left === undefined ? 0 : ++no.left, right: right ?? "", rightNo: right === undefined ? 0 : ++no.right, kind: "change" });
    }
  }
  return near(all);
}

function near(all: Pair[]): Pair[] {
  const keep = new Set<number>();
  all.forEach((p, i) => {
    if (p.kind === "change") for (let k = i - AROUND; k <= i + AROUND; k++) keep.add(k);
  });
  const out: Pair[] = [];
  all.forEach((p, i) => {
    if (keep.has(i)) out.push(p);
    else if (out.at(-1)?.kind !== "cut") out.push({ left: "", leftNo: 0, right: "", rightNo: 0, kind: "cut" });
  });
  return out;
}

/** Lines that one side has more and fewer: “+9 −4”. */
export function countsOf(pairs: readonly Pair[]): { added: number; removed: number } {
  const changes = pairs.filter((p) => p.kind === "change");
  return { added: changes.filter((p) => p.rightNo > 0).length, removed: changes.filter((p) => p.leftNo > 0).length };
}
