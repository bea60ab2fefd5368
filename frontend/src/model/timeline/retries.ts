// Waits for the model as rows: one for all tries in a row, whether the agent's CLI asks again
// or Loop does. It counts down, and says in the end what came of it.
import type { Attempt, LoopEvent, RetryWait } from "../../api/types";
import { text } from "./coerce";
import type { Built, RetryEnd, RetryItem, RunInfo } from "./items";

const count = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? v : 0);

type Wait = { why: string; attempt: number; of: number; delay: number; own: boolean };

/** The CLI waits before it asks the model again. */
export function retry(b: Built, run: RunInfo, ev: LoopEvent, r: RetryWait) {
  wait(b, run, ev, { why: text(r.why), attempt: count(r.attempt), of: count(r.of), delay: count(r.delay_ms), own: false });
}

/** Loop begins a further try, after a wait where the model was busy. */
export function attempt(b: Built, run: RunInfo, ev: LoopEvent, a: Attempt) {
  run.activity = "";
  run.lastAt = ev.timestamp;
  if (a.kind === "transient") {
    // The refusal stands in the row, so the CLI's own words for it right above say nothing more.
    const last = b.items.at(-1);
    if (last?.kind === "notice" && last.runId === run.runId && last.level === "warning" && !last.driver) b.items.pop();
    wait(b, run, ev, { why: text(a.reason), attempt: count(a.transient), of: Math.max(0, count(a.of) - 1), delay: count(a.delay_ms), own: true });
    return;
  }
  endRetry(b, run, ev.timestamp, "failed");
  const made: Attempt = { number: Number(a.number) || 0, reason: text(a.reason), delay_ms: count(a.delay_ms), session_id: text(a.session_id) };
  if (a.kind) made.kind = a.kind;
  b.items.push({ kind: "attempt", key: `e${ev.id}`, at: ev.timestamp, runId: run.runId, attempt: made });
}

function wait(b: Built, run: RunInfo, ev: LoopEvent, w: Wait) {
  const at = ev.timestamp;
  const i = openAt(b, run);
  const old = b.items[i];
  const tries = old?.kind === "retry" ? old.tries + 1 : 1;
  const next = { ...w, why: w.why || "The model did not answer.", tries, due: at + w.delay };
  if (old?.kind === "retry") {
    b.items[i] = { ...old, ...next };
    return;
  }
  const key = `r${ev.id}`;
  b.items.push({ kind: "retry", key, at, runId: run.runId, ...next, until: 0, end: "" });
  run.retry = key;
}

const openAt = (b: Built, run: RunInfo): number => (run.retry ? b.items.findLastIndex((it) => it.key === run.retry) : -1);

/** The try that Loop waited for has begun, perhaps because a person wanted it at once. */
export function beginsNow(b: Built, run: RunInfo, at: number) {
  const i = openAt(b, run);
  const it = b.items[i];
  if (it?.kind === "retry" && it.own) b.items[i] = { ...it, own: false, due: Math.min(it.due, at) };
}

/** The run goes on, or is over: nothing waits any more. */
export function endRetry(b: Built, run: RunInfo, at: number, end: RetryEnd) {
  const i = openAt(b, run);
  run.retry = "";
  const it = b.items[i];
  if (it?.kind === "retry") b.items[i] = { ...it, until: at, end };
}

/** Seconds until the next try; 0 once it is due. A clock that differs from Loop's makes no more of them than were meant. */
export const secondsLeft = (it: RetryItem, now: number): number => Math.max(0, Math.ceil(Math.min(it.due - now, it.delay) / 1000));

const TRY = (it: RetryItem): string => (it.of ? `Try ${it.attempt} of ${it.of}.` : it.attempt ? `Try ${it.attempt}.` : "");

/** head ticks while the row is open; why says what happened. */
export function retryWords(it: RetryItem, now: number): { head: string; why: string } {
  if (it.until) {
    const tried = it.tries === 1 ? "once" : `${it.tries} times`;
    const heads: Record<RetryEnd, string> = { "": "Tried again", answered: `Tried again ${tried}`, failed: `Tried again ${tried}, in vain`, stopped: "Stopped while waiting" };
    return { head: heads[it.end], why: it.why };
  }
  const s = secondsLeft(it, now);
  return { head: s > 0 ? `Trying again in ${s} s` : "Trying again", why: [it.why, TRY(it)].filter(Boolean).join(" ") };
}

/** What a screen reader says, once for a row. */
export const retrySaid = (it: RetryItem): string => `${it.why} Loop waits and tries again.`;
