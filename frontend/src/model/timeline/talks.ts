// What is said to Claude in terminals: one row for each stretch of a conversation, which its own
// rows hang below.
import type { LoopEvent, RunID, TerminalTalk } from "../../api/types";
import { elapsed, money, plural } from "../format";
import { amount } from "../usage";
import { text } from "./coerce";
import type { Built, Item, TalkItem } from "./items";
import type { NestView } from "./nest";
import { nest } from "./nest";
import { touch } from "./running";

/** Whether the rows are of a conversation in a terminal, which is no run. */
export const isTalk = (id: RunID): boolean => id.startsWith("talk-");

const keyOf = (id: RunID): string => `t${id}`;

const count = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? v : 0);

/** A talk as an event says it, whatever its fields hold. */
export function talkOf(data: unknown): TerminalTalk {
  const t = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
  return {
    talk_id: text(t.talk_id), channel_id: text(t.channel_id), session_id: text(t.session_id), terminal_id: text(t.terminal_id), title: text(t.title),
    prompts: Math.floor(count(t.prompts)), working: t.working === true, broken: t.broken === true, demo: t.demo === true,
    began_ms: count(t.began_ms), turn_began_ms: count(t.turn_began_ms), last_ms: count(t.last_ms),
    cost_usd: count(t.cost_usd), cost_estimated: t.cost_estimated === true, unpriced: Array.isArray(t.unpriced) ? t.unpriced.filter((x): x is string => typeof x === "string" && x !== "") : [],
    ...(Array.isArray(t.model_usage) ? { model_usage: t.model_usage as TerminalTalk["model_usage"] } : {}),
    added_usd: typeof t.added_usd === "number" && Number.isFinite(t.added_usd) ? t.added_usd : 0,
  };
}

/** Makes the row of a talk, or says in it how the talk stands now. */
export function talked(b: Built, ev: LoopEvent, data: unknown) {
  const talk = talkOf(data);
  const id = ev.run_id ?? "";
  if (!isTalk(id)) return;
  head(b, id, talk.began_ms || ev.timestamp);
  const i = b.items.findLastIndex((it) => it.key === keyOf(id));
  const it = b.items[i];
  if (it?.kind === "talk") b.items[i] = { ...it, talk };
  if (talk.working) return;
  b.items = b.items.map((x) => (x.kind === "tool" && x.runId === id && !x.result && !x.orphaned ? { ...x, orphaned: true } : x));
}

/** The row of a talk comes before its first row that is loaded. What is known of it may come later. */
export function head(b: Built, id: RunID, at: number) {
  if (!isTalk(id) || b.runs[id]) return;
  touch(b, id, at);
  b.items.push({ kind: "talk", key: keyOf(id), at, runId: id, talk: talkOf({ talk_id: id, began_ms: at, last_ms: at }) });
}

export type TalksView = { rows: Item[]; hidden: Map<string, Item[]> };

/**
 * Puts the rows of talks below theirs, where they are shown while it is open. empty: a talk of
 * which nothing is shown keeps its row.
 */
export function foldTalks(items: readonly Item[], isOpen: (key: string) => boolean, empty = true): TalksView {
  const below = new Map<string, Item[]>();
  for (const it of items) {
    if (it.kind === "talk") below.set(it.runId, below.get(it.runId) ?? []);
    else if (isTalk(it.runId)) {
      const own = below.get(it.runId);
      if (own) own.push(it);
      else below.set(it.runId, [it]);
    }
  }
  const hidden = new Map<string, Item[]>();
  if (below.size === 0) return { rows: [...items], hidden };
  const rows: Item[] = [];
  for (const it of items) {
    if (it.kind !== "talk") {
      if (!isTalk(it.runId)) rows.push(it);
      continue;
    }
    const own = below.get(it.runId) ?? [];
    if (own.length === 0 && !empty) continue;
    rows.push(it);
    if (isOpen(it.key)) rows.push(...own);
    else hidden.set(it.key, own);
  }
  return { rows, hidden };
}

/** The rows with what hangs below others: those of talks, and of sub-agents. */
export function nestAll(items: readonly Item[], isOpen: (key: string) => boolean, empty: boolean): NestView {
  const talks = foldTalks(items, isOpen, empty);
  const view = nest(talks.rows, isOpen);
  if (talks.rows.every((it) => it.kind !== "talk" && !isTalk(it.runId))) return view;
  return {
    rows: view.rows, hidden: new Map<string, readonly Item[]>([...view.hidden, ...talks.hidden]),
    depthOf: (it) => view.depthOf(it) + (it.kind !== "talk" && isTalk(it.runId) ? 1 : 0),
  };
}

/** “4 prompts”, “12 m”, “$0.23 and what claude-x costs, which is not known” */
export function talkFacts(t: TerminalTalk): string[] {
  const took = t.last_ms - t.began_ms;
  return [t.prompts > 0 ? plural(t.prompts, "prompt") : "", took >= 1000 ? elapsed(took) : "", costOf(t), t.broken ? "broken off" : ""].filter(Boolean);
}

/** What a talk has cost, as far as that is known. */
export function costOf(t: TerminalTalk): string {
  if (t.demo) return "no cost";
  const unknown = t.unpriced ?? [];
  const usd = t.cost_usd ?? 0;
  if (unknown.length > 0) return usd > 0 ? `more than ${money(usd)}` : "cost not known yet";
  return usd > 0 ? amount(usd, t.cost_estimated) : "";
}

/** The row in words. */
export function talkWords(it: TalkItem): string {
  const t = it.talk;
  return [`In the terminal: ${t.title ? `“${t.title}”` : "a conversation"}`, t.working ? "working" : "", ...talkFacts(t)].filter(Boolean).join(" · ");
}
