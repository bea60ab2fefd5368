// Runs of reads and searches as one row: they say where the agent looked, and each of them
// alone says little. A failed one stays a row of its own, and so does one under way.
import { plural } from "../format";
import { relativeTo } from "../text";
import type { Item, ReadsItem, ToolItem } from "./items";
import { countLines } from "./tools";

const LEAST = 3; // as few as that are worth a row for all
const FOLDERS = 3;
const SEARCHES = new Set(["Grep", "Glob", "LS"]);

/**
 * What was shown before. seen: reads and searches with a row of their own. loose: those that
 * keep it. heads: the first ones of folded runs.
 */
export type ReadsMemory = { seen: ReadonlySet<string>; loose: ReadonlySet<string>; heads: ReadonlySet<string> };
export const noReads: ReadsMemory = { seen: new Set(), loose: new Set(), heads: new Set() };

/** rows: what is shown. inside: the rows of opened runs. */
export type ReadsView = { rows: Item[]; inside: ReadonlySet<string>; memory: ReadsMemory };

/**
 * Folds the runs. still: the person may be reading, so what has a row of its own keeps it, as
 * does what the person has opened. isOpen: whether a row is open, by its key. current: the
 * key of the row that may have the keyboard, which would be lost with it.
 */
export function foldReads(items: readonly Item[], memory: ReadsMemory, still: boolean, isOpen: (key: string) => boolean, current = ""): ReadsView {
  const rows: Item[] = [];
  const inside = new Set<string>();
  const loose = new Set(memory.loose);
  for (const key of memory.seen) if (still || key === current || isOpen(key)) loose.add(key);
  const seen = new Set<string>();
  const heads = new Set<string>();
  for (let i = 0; i < items.length; ) {
    const run = runAt(items, i, loose, memory.heads);
    const first = run[0];
    if (!first || run.length < LEAST) {
      const alone = first ? run : items.slice(i, i + 1);
      for (const it of alone) if (isRead(it)) seen.add(it.key);
      rows.push(...alone);
      i += alone.length;
      continue;
    }
    const head: ReadsItem = { kind: "reads", key: `reads ${first.key}`, at: first.at, runId: first.runId, parentId: first.parentId, items: run };
    heads.add(first.key);
    rows.push(head);
    if (isOpen(head.key)) {
      rows.push(...run);
      for (const it of run) inside.add(it.key);
    }
    i += run.length;
  }
  return { rows, inside, memory: { loose, seen, heads } };
}

/** The run that begins at an item. A run that was folded before begins where it began, also when an older page comes in above. */
function runAt(items: readonly Item[], from: number, loose: ReadonlySet<string>, heads: ReadonlySet<string>): ToolItem[] {
  const out: ToolItem[] = [];
  for (let i = from; i < items.length; i++) {
    const it = items[i];
    const first = out[0];
    if (!it || !isRead(it) || !it.result || it.result.is_error || it.result.pictures?.length || it.cut || loose.has(it.key)) break;
    if (first && (it.runId !== first.runId || it.parentId !== first.parentId || heads.has(it.key))) break;
    out.push(it);
  }
  return out;
}

const isRead = (it: Item): it is ToolItem => it.kind === "tool" && (it.name === "Read" || SEARCHES.has(it.name));

export type ReadsWords = { verb: string; folders: string; searched: string; lines: number };

/** The run in words: how many files, in which folders, how many searches. */
export function readsWords(it: ReadsItem, dir: string): ReadsWords {
  const paths = new Set<string>();
  let lines = 0;
  for (const t of it.items) {
    if (t.name !== "Read") continue;
    const input = (typeof t.input === "object" && t.input !== null ? t.input : {}) as Record<string, unknown>;
    paths.add(typeof input.file_path === "string" ? input.file_path : t.key);
    lines += countLines(t.result?.output ?? "");
  }
  const reads = it.items.filter((t) => t.name === "Read").length;
  const searches = it.items.length - reads;
  const times = searches === 1 ? "once" : `${searches} times`;
  const where = [...new Set([...paths].map((p) => relativeTo(p, dir)).map((p) => p.slice(0, Math.max(0, p.lastIndexOf("/")))))].filter(Boolean);
  const folders = where.slice(0, FOLDERS).join(", ") + (where.length > FOLDERS ? " …" : "");
  if (reads === 0) return { verb: `Searched ${times}`, folders: "", searched: "", lines: 0 };
  return { verb: `Read ${plural(paths.size, "file")}`, folders, searched: searches > 0 ? `and searched ${times}` : "", lines };
}
