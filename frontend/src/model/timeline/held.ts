// Calls that the gate held, as items of the timeline: each under the tool call that caused it.
import type { Approval, ApprovalKind, ApprovalOffer, ApprovalScope, ApprovalState, LoopEvent } from "../../api/types";
import { list, record, text } from "./coerce";
import type { Built, GateItem, Item } from "./items";

const STATES: readonly ApprovalState[] = ["waiting", "allowed", "denied", "expired", "withdrawn", "broken", "gathered"];
const KINDS: readonly ApprovalKind[] = ["file", "execve", "connect", "navigate", "flood"];

/** Puts an answer into the row of its question. A new row stands below its tool call, and below the others of that call. */
export function held(b: Built, ev: LoopEvent, data: unknown) {
  const approval = coerce(data);
  const key = `g${approval.approval_id}`;
  const i = b.items.findLastIndex((it) => it.key === key);
  const old = b.items[i];
  if (approval.state === "gathered") { // the question of its run stands for it
    b.items = b.items.filter((it) => it.key !== key);
    return;
  }
  if (old?.kind === "gate") {
    // The question may be told again after its answer, which stays.
    if (approval.state === "waiting" && old.approval.state !== "waiting") return;
    b.items[i] = { ...old, approval };
    // What the agent says takes longer than what its program does: the call may be known only now.
    if (!old.approval.tool_use_id && approval.tool_use_id) heldBy(b, approval.tool_use_id, old.runId);
    return;
  }
  if (ev.type === "gate.changed") return; // its question is on an older page
  const made: GateItem = { kind: "gate", key, at: ev.timestamp, runId: ev.run_id ?? "", approval };
  const use = approval.tool_use_id;
  const below = use ? b.items.findLastIndex((it) => (it.kind === "tool" && it.useId === use) || of(it, use)) : -1;
  if (below < 0) b.items.push(made);
  else b.items.splice(below + 1, 0, made);
}

const of = (it: Item, use: string) => it.kind === "gate" && it.approval.tool_use_id === use;

/**
 * Moves the held calls of a tool call below it, where they came first. The search ends at the
 * prompt of the run, because each call makes it and a timeline may be long.
 */
export function heldBy(b: Built, use: string, runId: string) {
  let first = b.items.length - 1;
  for (; first >= 0; first--) {
    const it = b.items[first];
    if (!it || of(it, use)) break;
    if (it.kind === "prompt" && it.runId === runId) return;
  }
  const tool = first < 0 || !use ? -1 : b.items.findLastIndex((it) => it.kind === "tool" && it.useId === use);
  if (tool < 0) return;
  const rows = b.items.filter((it) => of(it, use));
  const rest = b.items.filter((it) => !of(it, use));
  rest.splice(rest.indexOf(b.items[tool] as Item) + 1, 0, ...rows);
  b.items = rest;
}

/** An approval from a stored row of any version. A state that is not known needs no answer. */
function coerce(data: unknown): Approval {
  const a = record(data);
  const when = (v: unknown) => text(v) || undefined;
  return {
    approval_id: text(a.approval_id), channel_id: text(a.channel_id), run_id: text(a.run_id), spawn_id: text(a.spawn_id), tool_use_id: text(a.tool_use_id),
    kind: KINDS.find((k) => k === a.kind) ?? "file", state: STATES.find((s) => s === a.state) ?? "broken",
    operation: text(a.operation), target: text(a.target), site: text(a.site), asked_as: text(a.asked_as), from: text(a.from), call: text(a.call), calls: Number(a.calls) || 1,
    append: a.append === true, in_place: a.in_place === true, title: text(a.title), why: text(a.why), consequence: text(a.consequence), rule: text(a.rule), category: text(a.category),
    processes: list(a.processes).map(record).map((p) => ({ pid: Number(p.pid) || 0, exe: text(p.exe), command: text(p.command), short: text(p.short) })),
    details: list(a.details).map(record).map((d) => ({ label: text(d.label), text: text(d.text) })),
    diff: text(a.diff), diff_note: text(a.diff_note), digest: text(a.digest), offers: list(a.offers).map(record).map(offer),
    created_at: text(a.created_at), deadline: when(a.deadline), resolved_at: when(a.resolved_at), scope: when(a.scope) as ApprovalScope | undefined, by: text(a.by), reason: text(a.reason),
  };
}

function offer(o: Record<string, unknown>): ApprovalOffer {
  const matches = list(o.matches).map(record).map((m) => ({ at: text(m.at), what: text(m.what), decision: (STATES.find((s) => s === m.decision) ?? "denied"), own: m.own === true }));
  return { scope: text(o.scope) as ApprovalScope, pattern: text(o.pattern), rule: text(o.rule), matches, of: Number(o.of) || 0 };
}
