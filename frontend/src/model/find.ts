// What was said and done, by its words: the search, its hits, and the rows that they lead to.
import { createStore } from "zustand/vanilla";
import type { ChannelID, Failure, FoundEvent } from "../api/types";
import type { Item } from "./timeline/items";

/** channel: where it searches, "" everywhere. at: the chosen hit, -1 before one is. bar: how often the field above the timeline was asked for, 0 while it is closed. */
export type Find = { bar: number; words: string; channel: ChannelID; phase: "none" | "loading" | "done" | "error"; found: FoundEvent[]; more: boolean; at: number; failure: Failure | null };

export const noFind: Find = { bar: 0, words: "", channel: "", phase: "none", found: [], more: false, at: -1, failure: null };

export const findStore = createStore<Find>(() => noFind);

/** The row that a hit has led to; it opens, because the words may be in what it hides. */
export const foundRowStore = createStore(() => ({ key: "" }));

/** The words of a query as they are marked. The quotes that bind them are left out. */
export function wordsOf(query: string): string[] {
  return query.split('"').flatMap((part, i) => (i % 2 === 1 ? [part.trim()] : part.split(/\s+/))).filter((w) => /[\p{L}\p{N}]/u.test(w));
}

export type Stretch = { from: number; to: number };

/** Where words begin in a text, in whatever case, in order and without overlap. */
export function stretches(text: string, words: readonly string[], most = 200): Stretch[] {
  const low = text.toLowerCase();
  if (low.length !== text.length) return []; // places would be off
  const all: Stretch[] = [];
  for (const w of words) {
    const find = w.toLowerCase();
    for (let i = low.indexOf(find); i >= 0 && all.length < most; i = low.indexOf(find, i + find.length)) {
      if (i === 0 || !/[\p{L}\p{N}]/u.test(low.charAt(i - 1)) || !/[\p{L}\p{N}]/u.test(find.charAt(0))) all.push({ from: i, to: i + find.length });
    }
  }
  all.sort((a, b) => a.from - b.from || b.to - a.to);
  return all.filter((s, i) => i === 0 || s.from >= (all[i - 1]?.to ?? 0));
}

/** Who says or does what was found. */
export function whose(f: FoundEvent): string {
  switch (f.type) {
    case "message.created":
      return f.is_bot ? "Agent" : "You";
    case "agent.thinking":
      return "Thinking";
    case "tool.use":
      return f.tool_name || "Tool";
    case "tool.result":
      return "Output";
    case "run.notice":
      return "Notice";
    case "agent.status":
      return "Run";
    default:
      return "Question";
  }
}

const holds = (it: Item, f: FoundEvent): boolean =>
  it.key === `e${f.event_id}` || (it.kind === "tool" && Boolean(f.tool_use_id) && it.useId === f.tool_use_id && it.runId === f.run_id) || (it.kind === "reads" && it.items.some((x) => holds(x, f)));

/**
 * The row of a hit. A row that was streamed, a question or an end has another name, so that
 * its time decides; where no row is of that time, the last one before it is nearest.
 */
export function rowOf(items: readonly Item[], f: FoundEvent): Item | undefined {
  return items.find((it) => holds(it, f))
    ?? items.find((it) => it.at === f.timestamp && it.runId === (f.run_id ?? ""))
    ?? items.findLast((it) => it.at <= f.timestamp && it.runId === (f.run_id ?? ""))
    ?? items.findLast((it) => it.at <= f.timestamp);
}

/** The words at the field: which hit is chosen, of how many. */
export function countWords(f: Find): string {
  if (f.phase === "none") return "";
  if (f.phase === "error") return f.failure?.cause ?? "";
  if (f.found.length === 0) return f.phase === "loading" ? "" : "Nothing found";
  return `${f.at < 0 ? "?" : f.at + 1} of ${f.found.length}${f.more ? "+" : ""}`;
}
