// One channel's timeline: its pages, its live events, and the need to load it again.
import type { Failure, LoopEvent, Run, RunID, TimelinePage } from "../../api/types";
import { fold } from "./build";
import type { Built, RunInfo } from "./items";
import { emptyBuilt } from "./items";
import { adopt, stream } from "./live";
import { isTalk } from "./talks";

export type TimelineState = {
  phase: "empty" | "loading" | "ready" | "error";
  failure: Failure | null;
  events: LoopEvent[]; // stored ones, by id, oldest first
  seen: ReadonlySet<number>;
  hasMore: boolean;
  loadingOlder: boolean;
  olderFailure: Failure | null;
  built: Built;
  queue: Run[];
  loading: boolean; // the newest page is on its way
  pending: LoopEvent[]; // events that came meanwhile; they are applied again to that page
  stale: boolean; // an event was missed: the newest page must be loaded again
};

export const emptyTimeline: TimelineState = {
  phase: "empty", failure: null, events: [], seen: new Set(), hasMore: false, loadingOlder: false, olderFailure: null,
  built: emptyBuilt, queue: [], loading: false, pending: [], stale: false,
};

const PENDING_LIMIT = 5000; // with more events than this while loading, the page is loaded once more

export function startLoading(t: TimelineState): TimelineState {
  return { ...t, phase: t.events.length > 0 || t.phase === "ready" ? "ready" : "loading", failure: null, stale: false, loading: true, pending: [] };
}

export function loadFailed(t: TimelineState, failure: Failure): TimelineState {
  const ready = t.phase === "ready"; // what is shown stays, but may miss events
  return { ...t, phase: ready ? "ready" : "error", stale: ready, failure, loading: false, pending: [] };
}

/** Takes the newest page. Older events stay if the page follows them without a gap. */
export function loaded(t: TimelineState, page: TimelinePage, now: number): TimelineState {
  const fresh = page.events ?? [];
  const first = fresh[0]?.id ?? 0;
  const joins = t.events.length > 0 && (fresh.length === 0 || t.seen.has(first) || !page.has_more);
  const kept = joins ? t.events.filter((e) => (e.id ?? 0) < first) : [];
  const events = [...kept, ...fresh];
  const built = adopt(fold(emptyBuilt, events), page.live, now);
  const next: TimelineState = {
    ...t, phase: "ready", failure: null, events, seen: new Set(events.map((e) => e.id ?? 0)), built,
    hasMore: joins && kept.length > 0 ? t.hasMore : page.has_more, queue: page.queue ?? [], loading: false, pending: [], stale: false,
  };
  return receive(next, t.pending);
}

export function olderLoaded(t: TimelineState, page: TimelinePage): TimelineState {
  const older = (page.events ?? []).filter((e) => !t.seen.has(e.id ?? 0));
  if (older.length === 0) return { ...t, hasMore: page.has_more, loadingOlder: false, olderFailure: null };
  const events = [...older, ...t.events];
  // Rows of stored events are made again. Streamed rows have no stored event yet, so they are carried over.
  const liveKeys = new Set(t.built.live.map((l) => l.key));
  const live = t.built.items.filter((it) => liveKeys.has(it.key));
  const again = fold(emptyBuilt, events);
  const built: Built = { ...again, live: t.built.live, items: [...again.items, ...live] };
  return { ...t, events, seen: new Set(events.map((e) => e.id ?? 0)), built, hasMore: page.has_more, loadingOlder: false, olderFailure: null };
}

/** Applies live events of this channel, in order. It is safe to apply them twice. */
export function receive(t: TimelineState, batch: LoopEvent[]): TimelineState {
  if (batch.length === 0) return t;
  let next = t;
  if (t.loading) {
    const pending = [...t.pending, ...batch];
    next = pending.length > PENDING_LIMIT ? { ...t, pending: [], stale: true } : { ...t, pending };
  }
  if (t.phase !== "ready") return next;
  let stored: LoopEvent[] = [];
  const flush = () => {
    if (stored.length === 0) return;
    const seen = new Set(next.seen);
    for (const e of stored) seen.add(e.id ?? 0);
    next = { ...next, events: [...next.events, ...stored], seen, built: fold(next.built, stored) };
    stored = [];
  };
  const taken = new Set<number>();
  for (const ev of batch) {
    if (ev.type === "message.streaming") {
      flush();
      const s = stream(next.built, ev);
      if (s.built !== next.built) next = { ...next, built: s.built };
      if (s.gap) next = { ...next, stale: true };
    } else if (ev.type === "queue.changed") {
      next = { ...next, queue: queueChanged(next.queue, ev.data) };
    } else if ((ev.type === "agent.activity" || ev.type === "gate.changed") && !ev.id) {
      flush();
      next = { ...next, built: fold(next.built, [ev]) };
    } else if (ev.id && !next.seen.has(ev.id) && !taken.has(ev.id)) {
      const last = stored.at(-1)?.id ?? next.events.at(-1)?.id ?? 0;
      if (ev.id < last) next = { ...next, stale: true }; // out of order: a newly loaded page has the right order
      else {
        taken.add(ev.id);
        stored.push(ev);
        if (ev.type === "agent.status" && ev.run_id) next = { ...next, queue: leftQueue(next.queue, ev.run_id, ev.data?.state) };
      }
    }
  }
  flush();
  return next;
}

export function queueChanged(queue: Run[], run: Run | undefined): Run[] {
  if (!run?.run_id) return queue;
  const rest = queue.filter((r) => r.run_id !== run.run_id);
  return run.state === "queued" ? insert(rest, run) : rest;
}

function insert(queue: Run[], run: Run): Run[] {
  const out = [...queue, run];
  out.sort((a, b) => b.priority - a.priority || (a.rank ?? 0) - (b.rank ?? 0) || a.created_at.localeCompare(b.created_at));
  return out;
}

function leftQueue(queue: Run[], run: RunID, state: string | undefined): Run[] {
  return state && state !== "queued" && queue.some((r) => r.run_id === run) ? queue.filter((r) => r.run_id !== run) : queue;
}

/** Since when a run is under way. The channel knows it also where the run's start is on an older page. */
export function since(r: RunInfo, channelSince = ""): number {
  return Math.min(r.startedAt || r.seenAt, Date.parse(channelSince) || Infinity);
}

/** The channel's active run, or null. */
export function activeRun(t: TimelineState) {
  let best = null;
  for (const r of Object.values(t.built.runs)) if (since(r) && !r.endedAt && !isTalk(r.runId) && (!best || since(r) > since(best))) best = r;
  return best;
}

/** The items to show. A prompt that still waits is shown in the queue, not in the timeline. */
export function shownItems(t: TimelineState) {
  if (t.queue.length === 0) return t.built.items;
  const waiting = new Set(t.queue.map((r) => r.run_id));
  return t.built.items.filter((it) => it.kind !== "prompt" || !waiting.has(it.runId));
}
