// What the gate decided without asking, as items of the timeline: one line below each tool
// call, and the list of decisions in it. Grey is a rule, colour a denial.
import type { ApprovalKind, GateCount, GateDecision, GateDecisions, LoopEvent } from "../../api/types";
import { plural } from "../format";
import { list, record, text } from "./coerce";
import type { Built, DecidedItem, Item } from "./items";

/** More decisions of one tool call are counted, and not listed. */
const LISTED = 200;

const KINDS: readonly ApprovalKind[] = ["file", "execve", "connect", "navigate"];

/** Adds decisions to the line of their tool call. Those of no known call are added to the line right before them, or get a new one. */
export function decided(b: Built, ev: LoopEvent, data: unknown) {
  const came = coerce(data);
  const runId = ev.run_id ?? "";
  const use = came.tool_use_id;
  const same = (it: Item) => it.kind === "decided" && it.runId === runId && it.decided.tool_use_id === use;
  const i = use ? b.items.findLastIndex(same) : b.items.findLastIndex((it, n) => n === b.items.length - 1 && same(it));
  const old = b.items[i];
  if (old?.kind === "decided") {
    b.items[i] = { ...old, decided: sum(old.decided, came) };
    return;
  }
  const made: DecidedItem = { kind: "decided", key: `e${ev.id}`, at: ev.timestamp, runId, decided: came };
  const below = use ? b.items.findLastIndex((it) => it.runId === runId && ((it.kind === "tool" && it.useId === use) || (it.kind === "gate" && it.approval.tool_use_id === use))) : -1;
  if (below < 0) b.items.push(made);
  else b.items.splice(below + 1, 0, made);
}

/** Both together: equal rules and decisions are one. */
function sum(a: GateDecisions, b: GateDecisions): GateDecisions {
  const rules = [...(a.rules ?? [])];
  for (const r of b.rules ?? []) {
    const i = rules.findIndex((x) => x.rule === r.rule && x.operation === r.operation);
    const old = rules[i];
    if (old) rules[i] = { ...old, calls: old.calls + r.calls };
    else rules.push(r);
  }
  const decisions = [...(a.decisions ?? [])];
  let more = (a.more ?? 0) + (b.more ?? 0);
  for (const d of b.decisions ?? []) {
    const i = decisions.findIndex((x) => x.state === d.state && x.by === d.by && x.rule === d.rule && x.operation === d.operation && x.target === d.target);
    const old = decisions[i];
    if (old) decisions[i] = { ...old, calls: old.calls + d.calls };
    else if (decisions.length < LISTED) decisions.push(d);
    else if (d.state !== "allowed") more += d.calls;
  }
  const plus = (k: "allowed" | "unruled" | "missed") => (a[k] ?? 0) + (b[k] ?? 0);
  return { ...a, allowed: plus("allowed"), unruled: plus("unruled"), missed: plus("missed"), more, rules, decisions };
}

export function deniedCalls(d: GateDecisions): number {
  return (d.decisions ?? []).reduce((n, x) => (x.state === "allowed" ? n : n + x.calls), d.more ?? 0);
}

/** The line in pieces. The part about denials names the rule that denied most. */
export function decidedWords(d: GateDecisions): { allowed: string; denied: string; missed: string } {
  const answered = (d.decisions ?? []).filter((x) => x.state === "allowed");
  const n = answered.reduce((calls, x) => calls + x.calls, 0);
  const allowed = [
    d.allowed ? `${plural(d.allowed, "call")} allowed by rules` : "",
    n ? `${d.allowed ? n : plural(n, "call")} allowed by earlier answers` : "",
  ].filter(Boolean).join(" · ");
  const total = deniedCalls(d);
  const by = new Map<string, number>();
  for (const x of d.decisions ?? []) if (x.state !== "allowed") by.set(byWords(x), (by.get(byWords(x)) ?? 0) + x.calls);
  const named = [...by].sort((a, b) => b[1] - a[1]);
  const first = named[0];
  const why = first ? `: ${first[0]}${first[1] > 1 ? ` × ${first[1]}` : ""}${named.length > 1 ? " …" : ""}` : "";
  return { allowed, denied: total ? `${total} denied${why}` : "", missed: d.missed ? `${plural(d.missed, "report")} of the gate lost` : "" };
}

export const decidedLine = (d: GateDecisions): string => Object.values(decidedWords(d)).filter(Boolean).join(" · ");

/** Who decided: the rule by its name, or what else did. */
export function byWords(d: Pick<GateDecision, "by" | "rule">): string {
  if (d.by !== "a rule" && d.by !== "the default") return d.by;
  return d.rule ? `rule ${d.rule}` : "the policy's default";
}

const positive = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? Math.floor(v) : 0);

function coerce(data: unknown): GateDecisions {
  const d = record(data);
  return {
    channel_id: text(d.channel_id), run_id: text(d.run_id), spawn_id: text(d.spawn_id), tool_use_id: text(d.tool_use_id),
    allowed: positive(d.allowed), unruled: positive(d.unruled), more: positive(d.more), missed: positive(d.missed),
    rules: list(d.rules).map(record).map((r): GateCount => ({ rule: text(r.rule), operation: text(r.operation), calls: positive(r.calls) })),
    decisions: list(d.decisions).map(record).map((x): GateDecision => ({
      id: text(x.id), at: text(x.at), state: x.state === "allowed" ? "allowed" : "denied", by: text(x.by), kind: KINDS.find((k) => k === x.kind) ?? "file",
      operation: text(x.operation), target: text(x.target), rule: text(x.rule), category: text(x.category), message: text(x.message), process: text(x.process), calls: positive(x.calls) || 1,
    })),
  };
}
