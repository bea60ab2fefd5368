// What changed in a channel's folder, hunk by hunk: the order of files, what is accepted,
// and comments that become one prompt.
import { createStore } from "zustand/vanilla";
import type { ChannelID, ReviewDiff, ReviewFile, ReviewHunk, ReviewScope, ReviewStatus, RunID } from "../api/types";
import type { PatchLine } from "./patch";
import { parsePatch } from "./patch";

/** The kind of the panel. Stored layouts name it by this word, which therefore never changes. */
export const REVIEW_PANEL = "review";

/** What is shown: the worktree, its branch since it began, what a chosen run changed, or the last one. */
export type Shown = "worktree" | "branch" | "run" | "turn";

/** What a channel's review shows. visit: grows whenever a person asks for it. */
export type Reviewed = { shown: Shown; run: RunID; visit: number };

export const reviewStore = createStore<Record<ChannelID, Reviewed>>(() => ({}));

/** How many files a channel's review lists, for its tab. */
export const reviewCountStore = createStore<Record<ChannelID, number>>(() => ({}));

/** The scope that Loop is asked for. */
export const scopeOf = (shown: Shown, run: RunID = ""): ReviewScope => (shown === "run" ? { kind: "run", from: run } : { kind: shown === "turn" ? "run" : shown });

/** Files that reach further come first; git's order stays. */
export const listed = (files: readonly ReviewFile[]): ReviewFile[] => [...files.filter((f) => f.alarm), ...files.filter((f) => !f.alarm)];

/** What comes back with the panel. */
export type ReviewKept = { shown: Shown; run: RunID; path: string };

export function readKept({ shown, run, path }: Record<string, unknown>): ReviewKept | null {
  const word = (v: unknown) => (typeof v === "string" && v.length <= 4096 ? v : "");
  const what = (["worktree", "branch", "run", "turn"] as const).find((s) => s === shown);
  if (!what || (what === "run" && !word(run))) return null;
  return { shown: what, run: word(run), path: word(path) };
}

const SINCE: Record<string, { words: string; sentence: string }> = {
  edited: { words: "changed again since", sentence: "The file was changed again after the run. Here is what the run did." },
  committed: { words: "committed", sentence: "This change is committed." },
  other: { words: "to read", sentence: "Git compares this file with another text than the run found, for example because it had changes before. Decide about it in the worktree." },
  outside: { words: "not in git", sentence: "Git keeps nothing of this file." },
};

/** What became of a file since the run that is shown. */
export const sinceWords = (since: string | undefined): string => SINCE[since ?? ""]?.words ?? "";
export const sinceSentence = (since: string | undefined): string => SINCE[since ?? ""]?.sentence ?? "";

/** What is to be known of a run's changes, beside the list. */
export function runSentence(st: ReviewStatus): string {
  const until = { now: "The run goes on: these are its changes up to now.", next: "Loop kept no files at the end of this run. What changed up to the next one is among these." }[st.until ?? ""] ?? "";
  return [until, st.run && st.detail ? `Git could not be asked, so the changes are to read. ${st.detail}` : ""].filter(Boolean).join(" ");
}

export type Accepted = "none" | "some" | "all";

export function acceptedOf(f: ReviewFile): Accepted {
  if (f.staged === 0) return "none";
  return f.unstaged === 0 ? "all" : "some";
}

export function acceptedWords(f: ReviewFile): string {
  const state = acceptedOf(f);
  if (f.since) return sinceWords(f.since);
  return state === "none" ? "" : state === "all" ? "accepted" : `${f.staged} of ${f.staged + f.unstaged} accepted`;
}

export type Totals = { added: number; removed: number; staged: number; hunks: number };

export function totalsOf(files: readonly ReviewFile[]): Totals {
  const t = { added: 0, removed: 0, staged: 0, hunks: 0 };
  for (const f of files) {
    t.added += Math.max(0, f.added);
    t.removed += Math.max(0, f.removed);
    if (isGuarded(f.path)) continue; // nothing of it is committed
    t.staged += f.staged;
    t.hunks += f.staged + f.unstaged;
  }
  return t;
}

/** Git's own files: they can be accepted, which only takes the mark away. */
export const isGuarded = (path: string): boolean => path.startsWith(".git/");

/** What is accepted of a file: hunks by their names, or without any the whole file by its mark. */
export type Acceptable = { hunks: string[]; mark: string };

/** What can be accepted of the changes that are shown; null is nothing. */
export function acceptable(d: ReviewDiff): Acceptable | null {
  if (isGuarded(d.path) || (d.whole && d.whole !== "binary")) return { hunks: [], mark: d.mark };
  const hunks = openHunks(d);
  return hunks.length > 0 ? { hunks, mark: "" } : null;
}

/** By path, what the person saw of the files that they opened. */
export type Seen = ReadonlyMap<string, Acceptable>;

/** What was seen before, and now this. Where nothing is left to accept, it stays for when it is taken back. */
export function alsoSeen(seen: Seen, d: ReviewDiff): Seen {
  const now = acceptable(d);
  return now ? new Map([...seen, [d.path, now]]) : seen;
}

export const unseen = (seen: Seen, path: string): Seen => new Map([...seen].filter(([p]) => p !== path));

/** What “Accept all” takes: nothing that reaches further unless the person has opened it. */
export function bulk(files: readonly ReviewFile[], seen: Seen): ReviewFile[] {
  return files.filter((f) => f.unstaged > 0 && (!f.alarm || seen.has(f.path)));
}

/** Rejections that can still be put back, the next one last. One that could not be put back lets the others go first. */
export function afterUndo(rejected: readonly string[], id: string, done: boolean): string[] {
  const others = rejected.filter((r) => r !== id);
  return done ? others : [id, ...others];
}

/** The last part of a path, and the folder before it. */
export function nameOf(path: string): { name: string; dir: string } {
  const whole = path.endsWith("/") ? path.slice(0, -1) : path;
  const at = whole.lastIndexOf("/");
  return { name: whole.slice(at + 1), dir: at < 0 ? "" : whole.slice(0, at) };
}

const KINDS: Record<string, string> = { M: "changed", A: "new", D: "removed", T: "another kind", U: "changed by both sides" };
export const kindWord = (kind: string): string => KINDS[kind] ?? "changed";

/** The lines of a hunk with their numbers. */
export function linesOf(h: ReviewHunk): PatchLine[] {
  return parsePatch(`@@ -${h.old},${h.old_size} +${h.new},${h.new_size} @@\n${h.lines}`).slice(1);
}

/** How many lines linesOf makes of a hunk. */
export const countOf = (h: ReviewHunk): number => h.lines.split("\n").length - (/(^|\n)$/.test(h.lines) ? 1 : 0);

/** How many rows a hunk's lines take, where none wraps. */
export function rowsOf(h: ReviewHunk, split: boolean): number {
  if (!split) return countOf(h);
  let [rows, old, now] = [0, 0, 0]; // of lines that stand beside each other
  for (const l of h.lines.split("\n").slice(0, countOf(h))) {
    if (l[0] === "-" && now === 0) old++;
    else if (l[0] === "+") now++;
    else {
      rows += Math.max(old, now);
      [old, now] = l[0] === "-" ? [1, 0] : [0, 0];
      if (l[0] !== "-") rows++;
    }
  }
  return rows + Math.max(old, now);
}

/** “38–45”: the lines of the file now, or those that are gone. */
export function rangeOf(h: ReviewHunk): string {
  const [at, size] = h.new_size > 0 ? [h.new, h.new_size] : [h.old, h.old_size];
  return size === 0 ? "" : size === 1 ? `${at}` : `${at}–${at + size - 1}`;
}

/** One row of the view side by side: indexes of lines, -1 for none. */
export type Pair = { left: number; right: number };

/** Removed lines stand beside those that take their place. */
export function pairsOf(lines: readonly PatchLine[]): Pair[] {
  const out: Pair[] = [];
  for (let i = 0; i < lines.length; ) {
    const kind = lines[i]?.kind;
    if (kind !== "del" && kind !== "add") {
      out.push({ left: i, right: i });
      i++;
      continue;
    }
    const from = i;
    while (lines[i]?.kind === "del") i++;
    const mid = i;
    while (lines[i]?.kind === "add") i++;
    for (let k = 0; k < Math.max(mid - from, i - mid); k++) out.push({ left: from + k < mid ? from + k : -1, right: mid + k < i ? mid + k : -1 });
  }
  return out;
}

/** The line that a comment is about before the person chooses one: the first that changed, best a new one. */
export function firstChange(lines: readonly PatchLine[]): number {
  const add = lines.findIndex((l) => l.kind === "add");
  return add >= 0 ? add : Math.max(0, lines.findIndex((l) => l.kind === "del"));
}

/** A list in parts of so many. */
export function partsOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

/** Hunks that are still to be decided about. */
export const openHunks = (d: ReviewDiff): string[] => (d.hunks ?? []).filter((h) => !h.staged).map((h) => h.id);

/** Why a file can only be accepted as one, in a sentence. */
export function wholeSentence(d: ReviewDiff): string {
  switch (d.whole) {
    case "large":
      return "The changes are too many to show. The file can be accepted as one.";
    case "conflict":
      return "Both sides of a merge changed this file. Resolve it, then accept the file.";
    case "submodule":
      return "This folder is a repository of its own. It can be accepted as one.";
    case "filter":
      return `Git’s filter “${d.filter ?? ""}” changes this file, and Loop does not run it. Stage it in a terminal.`;
    default:
      return "";
  }
}

// --- comments ---

export type Comment = { id: string; path: string; line: number; old: boolean; quote: string; text: string };

export const commentsStore = createStore<Record<ChannelID, Comment[]>>(() => ({}));

/** Comments on lines of a hunk. */
export function commentsIn(h: ReviewHunk, all: readonly Comment[]): Comment[] {
  return all.filter((c) => (c.old ? c.line >= h.old && c.line < h.old + h.old_size : c.line >= h.new && c.line < h.new + h.new_size));
}

const QUOTE = 200; // characters of the line that a prompt repeats
const place = (c: Comment) => `${c.path}:${c.line}`;

/** Comments as one prompt, in the order of files and lines. */
export function commentsPrompt(all: readonly Comment[]): string {
  const sorted = [...all].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const one = (c: Comment) => {
    const quote = c.quote.trim().slice(0, QUOTE);
    return `${place(c)}${c.old ? " (a line that was removed)" : ""}\n${quote ? `> ${quote}\n` : ""}${c.text.trim()}`;
  };
  return `I have looked at your changes. Please see to ${all.length === 1 ? "this comment" : `these ${all.length} comments`}.\n\n${sorted.map(one).join("\n\n")}`;
}

/** Comments that a page kept. What is none is left out. */
export function readComments(text: string): Comment[] {
  try {
    const v: unknown = JSON.parse(text || "[]");
    return Array.isArray(v) ? v.filter((c): c is Comment => typeof c?.id === "string" && typeof c.path === "string" && typeof c.line === "number" && typeof c.quote === "string" && typeof c.text === "string") : [];
  } catch {
    return [];
  }
}

// --- what the repository is in the middle of ---

const STATES: Record<string, string> = { rebase: "A rebase is under way.", merge: "A merge is under way.", "cherry-pick": "A cherry-pick is under way.", revert: "A revert is under way.", am: "Patches are being applied." };

/** "" where the repository is in the middle of nothing. */
export const stateSentence = (state: string): string => STATES[state] ?? "";

export const hasNoList = (state: string): boolean => state === "no-repository" || state === "submodule";
