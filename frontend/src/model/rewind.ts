// Back to before a prompt: which rows leave, what the words are. Pure, but for what is shown where.
import { createStore } from "zustand/vanilla";
import type { BackFile, ChannelID, Rewind, RewindPreview, RewindWhat, RunID } from "../api/types";
import { duration, money, plural } from "./format";
import type { Item, RewoundItem } from "./timeline/items";

/** Stored layouts name the panel by this word, which therefore never changes. */
export const REWIND_PANEL = "rewind";

/** Which prompt a channel's panel is about. visit: grows whenever a person asks for one. */
export type Target = { run: RunID; visit: number };
export const rewindStore = createStore<Record<ChannelID, Target | undefined>>(() => ({}));

/** What an open panel says would leave the conversation; its rows are grey meanwhile. */
export type Leaving = { run: RunID; words: string };
export const leavingStore = createStore<Record<ChannelID, Leaving | undefined>>(() => ({}));

export const WHAT: { what: RewindWhat; name: string; key: string }[] = [
  { what: "both", name: "Files and conversation", key: "1" },
  { what: "files", name: "Files only", key: "2" },
  { what: "conversation", name: "Conversation only", key: "3" },
];

export const hasFiles = (w: RewindWhat): boolean => w === "both" || w === "files";
export const hasTalk = (w: RewindWhat): boolean => w === "both" || w === "conversation";

/** What can go back; the first is what is chosen at first. */
export function possible(p: RewindPreview): RewindWhat[] {
  const files = !p.no_files;
  const talk = !p.talk.why;
  return WHAT.map((w) => w.what).filter((w) => (!hasFiles(w) || files) && (!hasTalk(w) || talk));
}

/** “2 prompts, 23 turns, 41 m, $0.54” */
export function leavesWords(p: RewindPreview): string {
  const t = p.talk;
  return [plural(t.prompts, "prompt"), plural(t.turns, "turn"), t.took_ms >= 1000 ? duration(t.took_ms) : "", t.cost_usd > 0 ? money(t.cost_usd) : ""].filter(Boolean).join(", ");
}

const BACK: Record<BackFile["back"], string> = { changed: "as it was", removed: "is removed", comes: "comes back", stays: "stays" };
export const backWords = (f: BackFile): string => BACK[f.back] ?? f.back;

/** How full a context is, in percent; -1 where nobody said how much it holds. */
export const fill = (c: RewindPreview["talk"]["context"]): number => (c?.window_tokens ? Math.min(100, Math.round((c.used_tokens / c.window_tokens) * 100)) : -1);

/** Where a file lies, and its name. */
export function placeOf(path: string): { name: string; folder: string } {
  const i = path.lastIndexOf("/");
  return { name: path.slice(i + 1), folder: path.slice(0, Math.max(i, 0)) };
}

/** The files that the person keeps, of those that are still listed. */
export const keptOf = (p: RewindPreview, keep: ReadonlySet<string>): string[] => (p.files ?? []).filter((f) => keep.has(f.path)).map((f) => f.path);

/** “Went back to 14:21”, in the words of what did. */
export function wentWords(r: Rewind, time: string): string {
  if (r.state === "broken") return `Loop ended while it went back to ${time}; some files may be of then, others not`;
  const undone = r.state === "undone" ? ", undone" : "";
  return (r.what === "files" ? `Files went back to ${time}` : r.what === "conversation" ? `The conversation went back to ${time}` : `Went back to ${time}`) + undone;
}

const left = (it: RewoundItem): boolean => it.rewind.state === "done" && hasTalk(it.rewind.what);

/**
 * The rows without those that left the conversation. Those of a going back that is open come, and are named in gone;
 * those of a closed one are in hidden, by its key. Of several, one within another, the outermost counts.
 */
export function withoutLeft(items: readonly Item[], open: (key: string) => boolean): { items: Item[]; gone: Set<string>; hidden: Map<string, Item[]> } {
  const gone = new Set<string>();
  const away = new Set<string>();
  const hidden = new Map<string, Item[]>();
  for (let i = items.length - 1; i >= 0; i--) {
    const it = items[i];
    if (it?.kind !== "rewound" || !left(it) || away.has(it.key)) continue;
    const runs = new Set(it.rewind.leaves ?? []);
    const first = items.findIndex((x) => x.runId === it.rewind.run_id && x.kind === "prompt");
    const own = items.slice(first < 0 ? 0 : first, i).filter((x) => first >= 0 || runs.has(x.runId));
    if (!open(it.key)) hidden.set(it.key, own);
    for (const x of own) (open(it.key) ? gone : away).add(x.key);
  }
  return { items: away.size === 0 ? (items as Item[]) : items.filter((x) => !away.has(x.key)), gone, hidden };
}

/** The rows that would leave with a prompt: all behind it. */
export function leavingRows(items: readonly Item[], run: RunID | undefined): Set<string> {
  const at = run ? items.findIndex((it) => it.kind === "prompt" && it.runId === run) : -1;
  return new Set(at < 0 ? [] : items.slice(at + 1).map((it) => it.key));
}

/** Whether a going back is the last thing that happened, so that it can be undone. */
export function undoable(items: readonly Item[], it: RewoundItem): boolean {
  if (it.rewind.state !== "done" && it.rewind.state !== "broken") return false;
  const at = items.findIndex((x) => x.key === it.key);
  return !items.slice(at + 1).some((x) => x.kind === "start" || x.kind === "end" || (x.kind === "rewound" && x.rewind.state === "done"));
}

/** The prompt that began last; "" for none. */
export const lastPrompt = (items: readonly Item[]): RunID => items.findLast((it) => it.kind === "prompt")?.runId ?? "";
