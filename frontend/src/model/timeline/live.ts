// Streamed pieces of unfinished messages. Each piece has an offset. Repeated bytes are
// dropped, and a gap makes the page load the timeline again.
import type { LiveMessage, LoopEvent, MessageStreaming } from "../../api/types";
import { skipUtf8, utf8Length } from "../text";
import type { Built, Item, LiveBlock } from "./items";
import { endRetry } from "./retries";

export type Streamed = { built: Built; gap: boolean };

export function stream(built: Built, ev: LoopEvent): Streamed {
  const d = ev.data as MessageStreaming;
  const runId = ev.run_id ?? "";
  if (typeof d?.delta !== "string" || typeof d.offset !== "number") return { built, gap: false };
  const run = built.runs[runId];
  if (run?.endedAt) return { built, gap: false };
  if (d.kind === "tool") { // the piece is a tool's name: the agent writes its input
    return { built: run ? { ...built, runs: { ...built.runs, [runId]: { ...run, activity: `Preparing ${d.delta}` } } } : built, gap: false };
  }
  const kind = d.kind === "thinking" ? "thinking" : "text";
  const at = built.live.findIndex((l) => l.runId === runId && l.msgId === d.msg_id && l.block === d.block);
  const have = built.live[at];
  if (!have) {
    if (alreadyStored(built, runId, d, kind)) return { built, gap: false };
    if (d.offset > 0) return { built, gap: true };
    return { built: begin(dropStale(built, runId, d.msg_id), runId, d.msg_id, d.block, kind, d.delta, ev.timestamp), gap: false };
  }
  if (d.offset > have.bytes) return { built, gap: true };
  const fresh = d.offset === have.bytes ? d.delta : skipUtf8(d.delta, have.bytes - d.offset);
  if (!fresh) return { built, gap: false };
  const i = built.items.findLastIndex((it) => it.key === have.key);
  const it = built.items[i];
  if (it?.kind !== "text" && it?.kind !== "thinking") return { built, gap: true };
  const items = built.items.slice();
  items[i] = { ...it, text: it.text + fresh };
  const live = built.live.slice();
  live[at] = { ...have, bytes: have.bytes + utf8Length(fresh) };
  return { built: { ...built, items, live }, gap: false };
}

/** Whether a late piece belongs to a block whose stored form is already here. */
function alreadyStored(b: Built, runId: string, d: MessageStreaming, kind: "text" | "thinking"): boolean {
  const n = b.settled[`${runId}/${d.msg_id}/${kind}`] ?? 0;
  if (n === 0) return false;
  for (let i = b.items.length - 1, left = n; i >= 0 && left > 0; i--) {
    const it = b.items[i];
    if (it?.kind !== kind || it.live || !it.key.startsWith(`${runId}/${d.msg_id}/`)) continue;
    left--;
    if (d.offset === 0 ? it.text.startsWith(d.delta.trimStart()) : it.text.includes(d.delta.trim())) return true;
  }
  return false;
}

/** Drops the pieces of an earlier message of the run: a try that broke off. */
function dropStale(b: Built, runId: string, msgId: string): Built {
  const stale = b.live.filter((l) => l.runId === runId && l.msgId !== msgId);
  if (stale.length === 0) return b;
  const keys = new Set(stale.map((l) => l.key));
  return { ...b, live: b.live.filter((l) => !keys.has(l.key)), items: b.items.filter((it) => !keys.has(it.key)) };
}

function begin(b: Built, runId: string, msgId: string, block: number, kind: "text" | "thinking", text: string, at: number): Built {
  const name = `${runId}/${msgId}/${kind}`;
  const ordinal = (b.settled[name] ?? 0) + b.live.filter((l) => l.runId === runId && l.msgId === msgId && l.kind === kind).length;
  const key = `${name}/${ordinal}`;
  const lb: LiveBlock = { msgId, runId, block, kind, bytes: utf8Length(text), key };
  const base = { key, at, runId, text, live: true, cut: false, took: 0 };
  const item: Item = kind === "text" ? { kind, ...base, author: "", uuid: "" } : { kind: "thinking", ...base };
  const start = b.items.findLastIndex((it) => it.kind === "start" && it.runId === runId);
  const items = b.items.slice();
  const st = items[start];
  if (st?.kind === "start" && !st.readyAt) items[start] = { ...st, readyAt: at };
  const next: Built = { ...b, items, runs: { ...b.runs }, live: [...b.live, lb] };
  const run = next.runs[runId];
  if (run?.retry) endRetry(next, (next.runs[runId] = { ...run }), at, "answered");
  next.items.push(item);
  return next;
}

/** Adds the unfinished message from the time when the page was loaded. */
export function adopt(built: Built, live: LiveMessage | null, at: number): Built {
  if (!live || built.runs[live.run_id]?.endedAt) return built;
  let b = built;
  (live.blocks ?? []).forEach((blk, i) => {
    if (!blk.text || (blk.kind !== "text" && blk.kind !== "thinking")) return;
    const stored = b.items.some((it) => (it.kind === "text" || it.kind === "thinking") && it.kind === blk.kind && it.key.startsWith(`${live.run_id}/${live.msg_id}/`) && it.text.startsWith(blk.text.trim()));
    if (!stored) b = begin(b, live.run_id, live.msg_id, i, blk.kind, blk.text, at);
  });
  return b;
}
