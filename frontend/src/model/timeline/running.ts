// What every row does to its run: the clock goes on, and the agent has shown a sign of life.
import type { Built, RunInfo } from "./items";
import { newRun } from "./items";
import { endRetry } from "./retries";

/** A fresh copy of the run's record, so that earlier states stay as they were. */
export function touch(b: Built, runId: string, at: number): RunInfo {
  const run = { ...(b.runs[runId] ?? newRun(runId, at)) };
  b.runs[runId] = run;
  return run;
}

/** A sub-agent's row: the run is there, and its own clock and waits go on. */
export function seen(b: Built, runId: string, at: number) {
  const run = touch(b, runId, at);
  if (runId) run.seenAt ||= at;
}

/** The time since the run's last row, in ms. A block that was cut off is stored late: it was shown before. */
export function took(b: Built, runId: string, at: number, cut = false): number {
  const run = touch(b, runId, at);
  endRetry(b, run, at, "answered");
  const t = Math.max(0, at - run.lastAt);
  if (runId) run.seenAt ||= at;
  run.lastAt = at;
  run.activity = "";
  if (!run.ready) {
    run.ready = true;
    ready(b, runId, cut ? run.runningAt || at : at);
  }
  return t;
}

/** Finishes the start row at the agent's first sign of life. */
export function ready(b: Built, runId: string, at: number) {
  const i = b.items.findLastIndex((it) => it.kind === "start" && it.runId === runId);
  const it = b.items[i];
  if (it?.kind === "start" && it.readyAt === 0) b.items[i] = { ...it, readyAt: at };
}
