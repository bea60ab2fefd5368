// A change of a file as one diff: what a tool's result says, or what its input asks for.
import { diffWordsWithSpace, structuredPatch } from "diff";
import type { FileChange } from "../api/types";
import type { PatchLine } from "./patch";

const MOST_CHARS = 200_000;
const MOST_EDITS = 2000;
const LINE_CHARS = 600; // characters of a line in which words are compared
const MOST_PAIRS = 400; // pairs of lines in which words are compared
const ALIKE = 0.35; // share of a line that stays, below which it is another line

/** numbered: the numbers of the lines are the file's. */
export type Change = { path: string; patch: string; numbered: boolean };

/** The changes of a call of an editing tool. None for other tools, and where nothing is known. */
export function changesOf(name: string, input: unknown, files: readonly FileChange[]): Change[] {
  const known = files.filter((f) => f.patch).map((f) => ({ path: f.path, patch: f.patch ?? "", numbered: true }));
  if (known.length > 0 || typeof input !== "object" || input === null) return known;
  const o = input as Record<string, unknown>;
  const path = typeof o.file_path === "string" ? o.file_path : "";
  if (name === "Write" && typeof o.content === "string" && o.content !== "") return [{ path, patch: created(o.content), numbered: true }];
  const edits: unknown[] = name === "Edit" ? [o] : name === "MultiEdit" && Array.isArray(o.edits) ? o.edits : [];
  const patch = edits.slice(0, MOST_PAIRS).map((e) => edited(e)).join("");
  return patch ? [{ path, patch, numbered: false }] : [];
}

function created(content: string): string {
  const lines = content.slice(0, MOST_CHARS).replace(/\n$/, "").split("\n");
  return `@@ -0,0 +1,${lines.length} @@\n${lines.map((l) => `+${l}\n`).join("")}`;
}

function edited(edit: unknown): string {
  const { old_string: old, new_string: fresh } = (edit ?? {}) as Record<string, unknown>;
  if (typeof old !== "string" || typeof fresh !== "string") return "";
  const [a, b] = [old.slice(0, MOST_CHARS), fresh.slice(0, MOST_CHARS)];
  const all = (text: string, sign: string) => (text ? text.replace(/\n$/, "").split("\n").map((l) => `${sign}${l}`) : []);
  const hunks = structuredPatch("", "", a, b, "", "", { context: 3, maxEditLength: MOST_EDITS })?.hunks.map((h) => h.lines.filter((l) => !l.startsWith("\\")));
  return (hunks ?? [[...all(a, "-"), ...all(b, "+")]]).map((lines) => `@@ -1 +1 @@\n${lines.map((l) => `${l}\n`).join("")}`).join("");
}

export type Ranges = [from: number, to: number][];

/** The words that differ, by the index of their line. Removed lines are compared with those that take their place. */
export function wordMarks(lines: readonly PatchLine[]): Map<number, Ranges> {
  const out = new Map<number, Ranges>();
  let pairs = 0;
  for (let i = 0; i < lines.length; ) {
    if (lines[i]?.kind !== "del") {
      i++;
      continue;
    }
    let mid = i;
    while (lines[mid]?.kind === "del") mid++;
    let end = mid;
    while (lines[end]?.kind === "add") end++;
    for (let k = 0; k < Math.min(mid - i, end - mid) && pairs < MOST_PAIRS; k++, pairs++) {
      const both = compared(lines[i + k]?.text ?? "", lines[mid + k]?.text ?? "");
      if (both) out.set(i + k, both.old).set(mid + k, both.fresh);
    }
    i = end;
  }
  return out;
}

function compared(old: string, fresh: string): { old: Ranges; fresh: Ranges } | null {
  if (old.length > LINE_CHARS || fresh.length > LINE_CHARS) return null;
  const parts = diffWordsWithSpace(old, fresh, { maxEditLength: 200 });
  if (!parts) return null;
  const marks = { old: [] as Ranges, fresh: [] as Ranges };
  const at = { old: 0, fresh: 0 };
  let same = 0;
  for (const p of parts) {
    const n = p.value.length;
    if (!p.added && !p.removed) same += p.value.trim().length;
    if (p.removed) add(marks.old, at.old, n);
    if (p.added) add(marks.fresh, at.fresh, n);
    if (!p.added) at.old += n;
    if (!p.removed) at.fresh += n;
  }
  return same >= ALIKE * Math.min(old.trim().length, fresh.trim().length) ? marks : null;
}

/** A single character between two marks is marked as well: “a.b” for “c.d” is one change to a reader. */
function add(ranges: Ranges, from: number, n: number) {
  const last = ranges.at(-1);
  if (last && from - last[1] <= 1) last[1] = from + n;
  else ranges.push([from, from + n]);
}
