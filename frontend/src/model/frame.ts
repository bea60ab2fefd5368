// The state of the frame around the timeline: channels, engine, image, config.
import type {
  Approval, Channel, ChannelID, ChannelState, ChannelView, ConfigStatus, Container, EngineStatus, GateStatus, ImageStatus, LoopEvent, Question, Run, Snapshot, Status,
} from "../api/types";
import type { TrustRequested } from "../api/types";
import type { DayCost } from "../api/types";
import type { ShownChannel } from "./gate";
import { applyGate, waitingOf } from "./gate";
import { ASKED, RESOLVED, applyQuestions } from "./questions";
import { isTerminal } from "./timeline/items";
import { TOOLCHAIN_STEP, settled } from "./toolchain";
import { talkOf } from "./timeline/talks";

export type FrameState = {
  ready: boolean;
  seq: number; // number of the last event applied
  launch: string; // the start of Loop that the numbers belong to
  version: string;
  mode: "window" | "headless";
  engine: EngineStatus | null;
  image: ImageStatus | null;
  channels: ChannelView[];
  containers: Container[];
  config: ConfigStatus | null;
  costs: DayCosts;
  gate: GateStatus | null;
  maxRuns: number; // the most runs at a time, over all channels
  activeRuns: Record<ChannelID, string>;
  questions: Question[]; // open ones, of all channels
  approvals: Approval[]; // that wait, of all channels, oldest first
  answered: Approval[]; // the last ones that need no answer any more
  trust: Record<ChannelID, TrustRequested>; // settings of projects that wait for approval
  queuedRuns: Record<string, boolean>; // changes since the snapshot: true while a run is in a queue, false once it left
};

/** The cost of the runs that ended on the day that began at `day`. upTo is the last event that it includes. */
export type DayCosts = { day: number; usd: number; estimated: boolean; upTo: number };

const dayOf = (at: number) => new Date(at).setHours(0, 0, 0, 0);

function costsOf(c: DayCost): DayCosts {
  return { day: dayOf(Date.now()), usd: c.cost_usd ?? 0, estimated: c.cost_estimated ?? false, upTo: c.last_event_id };
}

/** The costs of the day of `at`: a new day begins at midnight, also with the page open. */
export function costsAt(c: DayCosts, at: number): DayCosts {
  return dayOf(at) > c.day ? { ...c, day: dayOf(at), usd: 0, estimated: false } : c;
}

/** Counts the end of a run once, whether or not the snapshot has it. upTo stays, as ends do not come in order of their ids. */
function addCost(c: DayCosts, ev: LoopEvent, s: Status): DayCosts {
  return addUSD(c, ev, s.cost_usd ?? 0, s.cost_estimated ?? false);
}

function addUSD(c: DayCosts, ev: LoopEvent, usd: number, estimated: boolean): DayCosts {
  if ((ev.id && ev.id <= c.upTo) || dayOf(ev.timestamp) < c.day) return c;
  const d = costsAt(c, ev.timestamp);
  return { ...d, usd: Math.max(0, d.usd + usd), estimated: d.estimated || estimated };
}

export const emptyFrame: FrameState = {
  ready: false, seq: 0, launch: "", version: "", mode: "headless", engine: null, image: null, channels: [], containers: [],
  config: null, costs: { day: 0, usd: 0, estimated: false, upTo: 0 }, gate: null, maxRuns: 0, activeRuns: {}, questions: [], approvals: [], answered: [], trust: {}, queuedRuns: {},
};

export function fromSnapshot(f: FrameState, s: Snapshot): FrameState {
  return {
    ready: true, seq: s.seq, launch: s.launch, version: s.version, mode: s.mode, engine: s.engine, image: s.image,
    channels: (s.channels ?? []).map((c) => ownState(c, waitingOf(s.approvals))), containers: s.containers ?? [], config: s.config, costs: costsOf(s.cost_today), gate: s.gate,
    maxRuns: s.max_runs,
    activeRuns: f.activeRuns, questions: f.questions, approvals: waitingOf(s.approvals), answered: f.answered, trust: f.trust, queuedRuns: {},
  };
}

/** The channel's state without its approvals, which model/gate.ts adds where it is shown. */
function ownState(c: ChannelView, approvals: Approval[]): ChannelView {
  if (c.state !== "needs_you" || c.questions || c.undecided || !approvals.some((a) => a.channel_id === c.channel_id)) return c;
  return { ...c, state: c.running_since ? "working" : c.queued > 0 ? "queued" : "idle" };
}

/**
 * True when an event was missed. Numbers have no gaps within one launch. An event that
 * stands for several has the number of the first one as well.
 */
export function hasGap(f: FrameState, batch: LoopEvent[]): boolean {
  let want = f.seq + 1;
  for (const ev of batch) {
    if (ev.type === RESET) {
      const launch = (ev.data as { launch?: string } | undefined)?.launch;
      if (ev.seq > f.seq || launch !== f.launch) return true;
      continue;
    }
    if (!ev.seq || ev.seq < want) continue;
    if ((ev.first_seq ?? ev.seq) > want) return true;
    want = ev.seq + 1;
  }
  return false;
}

/** The event that says: Loop no longer has the events that this page missed. Only a new snapshot helps. */
export const RESET = "reset";

export function applyEvents(f: FrameState, batch: LoopEvent[]): FrameState {
  let next = f;
  for (const ev of batch) {
    if (ev.seq && ev.seq <= next.seq) continue;
    next = apply(next, ev);
    const questions = applyQuestions(next.questions, [ev]);
    if (questions !== next.questions) next = { ...next, questions };
    next = applyGate(next, ev);
    if (ev.seq) next = { ...next, seq: ev.seq };
  }
  return next;
}

function apply(f: FrameState, ev: LoopEvent): FrameState {
  const ch = ev.channel_id ?? "";
  switch (ev.type) {
    case "channel.created":
    case "channel.updated":
      return { ...f, channels: upsertChannel(f.channels, ev.data) };
    case "browser.held":
      return patch(f, ch, (c) => ({ ...c, browser_held: ev.data?.held === true }));
    case "channel.deleted":
      return { ...f, channels: f.channels.filter((c) => c.channel_id !== ch) };
    case "image.build_status":
      return { ...f, image: ev.data };
    case "engine.status":
      return { ...f, engine: ev.data };
    case "gate.status":
      return { ...f, gate: ev.data };
    case "config.changed":
      return { ...f, config: ev.data };
    case "container.registered":
    case "container.status_changed":
      return { ...f, containers: upsertContainer(f.containers, ev.data) };
    case "container.removed": {
      const gone = ev.data?.container_id;
      return { ...f, containers: f.containers.filter((c) => c.container_id !== gone) };
    }
    case "agent.ask_user":
    case "agent.exit_plan":
    case "agent.ask_resolved":
    case "agent.plan_resolved":
      return waiting(f, ev);
    case "trust.requested":
      return { ...f, trust: { ...f.trust, [ch]: ev.data } };
    case "queue.changed":
      return queue(f, ev.data);
    case "agent.status":
      return status(f, ev, ev.data);
    case "terminal.talk":
      return talk(f, ev);
    default:
      return f;
  }
}

function standing({ state, running_since, queued, questions, last_event_id, last_error, on_host, talking, undecided }: ChannelView) {
  return {
    state, queued, last_event_id, ...(undecided && { undecided }), ...(talking && { talking }), ...(on_host && { on_host }), ...(running_since && { running_since }), ...(questions && { questions }), ...(last_error && { last_error }),
  };
}

function upsertChannel(list: ChannelView[], ch: Channel | undefined): ChannelView[] {
  if (!ch?.channel_id) return list;
  const i = list.findIndex((c) => c.channel_id === ch.channel_id);
  if (i < 0) return [...list, { state: "idle", queued: 0, last_event_id: 0, ...ch }];
  // The event leaves out fields that the channel no longer has, so old ones must not stay. Other events carry its state.
  return list.map((c) => (c.channel_id === ch.channel_id ? { ...standing(c), ...ch } : c));
}

function upsertContainer(list: Container[], c: Container | undefined): Container[] {
  if (!c?.container_id && !c?.container_name) return list;
  const same = (x: Container) => (c.container_id && x.container_id === c.container_id) || (c.container_name && x.container_name === c.container_name);
  return list.some(same) ? list.map((x) => (same(x) ? { ...x, ...c } : x)) : [...list, c];
}

/** Follows questions: a channel needs the person from a question to its answer. */
function waiting(f: FrameState, ev: LoopEvent): FrameState {
  const ch = ev.channel_id ?? "";
  if (ASKED.has(ev.type) && (ev.data as Question | undefined)?.state === "open") return patch(f, ch, (c) => ({ ...c, state: "needs_you" }));
  const id = (ev.data as Question | undefined)?.question_id;
  if (!RESOLVED.has(ev.type) || f.questions.some((q) => q.channel_id === ch && q.question_id !== id)) return f;
  return patch(f, ch, (c) => (c.state === "needs_you" ? { ...c, state: c.queued > 0 ? "queued" : f.activeRuns[ch] ? "working" : "idle" } : c));
}

/** Counts queued runs from the snapshot's count on. Each run joins and leaves the count once. */
function queue(f: FrameState, run: Pick<Run, "run_id" | "channel_id" | "state"> | undefined): FrameState {
  if (!run?.run_id) return f;
  const joins = run.state === "queued";
  const known = f.queuedRuns[run.run_id];
  if (known === joins || (joins && known === false)) return f;
  const g = { ...f, queuedRuns: { ...f.queuedRuns, [run.run_id]: joins } };
  return patch(g, run.channel_id, (c) => {
    const queued = Math.max(0, c.queued + (joins ? 1 : -1));
    if (c.state === "working" || c.state === "needs_you") return { ...c, queued };
    return { ...c, queued, state: queued > 0 ? "queued" : c.state === "queued" ? "idle" : c.state };
  });
}

function status(f: FrameState, ev: LoopEvent, s: Status): FrameState {
  const ch = ev.channel_id ?? "";
  const activeRuns = { ...f.activeRuns };
  let costs = f.costs;
  if (isTerminal(s.state)) {
    delete activeRuns[ch];
    costs = addCost(costs, ev, s);
  } else if (s.state !== "queued" && ev.run_id) activeRuns[ch] = ev.run_id;
  const left = s.state === "queued" ? f : queue(f, { run_id: ev.run_id ?? "", channel_id: ch, state: s.state });
  const trust = settled(f.trust[ch], s.step) ? Object.fromEntries(Object.entries(f.trust).filter(([id]) => id !== ch)) : f.trust;
  return patch({ ...left, activeRuns, costs, trust }, ch, (c) => {
    const next = { ...c, last_event_id: Math.max(c.last_event_id, ev.id ?? 0), ...(s.on_host && { on_host: true }) };
    if (s.state !== "queued") next.undecided = s.step === TOOLCHAIN_STEP && !isTerminal(s.state);
    if (isTerminal(s.state)) {
      next.state = s.state === "done" ? "done" : s.state === "cancelled" ? "idle" : "failed";
      if (next.queued > 0) next.state = "queued";
      if (next.talking) next.state = "working"; // the agent is still at a turn in a terminal
      if (f.questions.some((q) => q.channel_id === ch)) next.state = "needs_you";
      next.running_since = undefined;
      if (s.context) next.context = s.context;
      next.last_error = s.state === "done" || s.state === "cancelled" ? undefined : s.failure;
    } else if (s.state !== "queued") {
      if (next.state !== "working" || !next.running_since) next.running_since = new Date(ev.timestamp).toISOString();
      if (next.state !== "needs_you" || !f.questions.some((q) => q.channel_id === ch)) next.state = next.undecided ? "needs_you" : "working";
    }
    return next;
  });
}

/** Follows conversations in terminals: the agent works while it is at a turn of one, and they cost. */
function talk(f: FrameState, ev: LoopEvent): FrameState {
  const ch = ev.channel_id ?? "";
  const t = talkOf(ev.data);
  const costs = addUSD(f.costs, ev, t.added_usd ?? 0, t.cost_estimated === true);
  return patch({ ...f, costs }, ch, (c) => {
    const next = { ...c, talking: t.working, last_event_id: Math.max(c.last_event_id, ev.id ?? 0) };
    if (c.state === "needs_you" || f.activeRuns[ch]) return next;
    if (t.working) return { ...next, state: "working", running_since: new Date(t.turn_began_ms || ev.timestamp).toISOString() };
    if (c.state !== "working") return next;
    return { ...next, state: c.queued > 0 ? "queued" : "done", running_since: undefined, last_error: undefined };
  });
}

function patch(f: FrameState, id: ChannelID, change: (c: ChannelView) => ChannelView): FrameState {
  return { ...f, channels: f.channels.map((c) => (c.channel_id === id ? change(c) : c)) };
}

/** state: the channel's own; for a folded row the strongest of its own and all hidden ones, and count of that state. */
export type ChannelRow = { channel: ChannelView; depth: number; hasChildren: boolean; folded: boolean; speaksFor: ChannelID[]; state: ChannelState; count: number; queued: number; since: string | undefined; driven: boolean };

/** The strongest first: what waits for the person, then what went wrong, then what goes on. */
const STRENGTH: ChannelState[] = ["needs_you", "failed", "working", "queued", "done", "idle"];

/** The state of several channels, summed up as one. driven: the person is needed at one browser alone. */
export function strongest(channels: ShownChannel[]): Pick<ChannelRow, "state" | "count" | "queued" | "since" | "driven"> {
  const state = STRENGTH.find((s) => channels.some((c) => c.state === s)) ?? "idle";
  const same = channels.filter((c) => c.state === state);
  return { state, count: same.length, queued: channels.reduce((n, c) => n + c.queued, 0), since: same.length === 1 ? same[0]?.running_since : undefined, driven: same.length === 1 && same[0]?.driven === true };
}

/** The tree as rows: projects by name, each followed by its threads and worktrees. */
export function channelRows(channels: ChannelView[], closed: ReadonlySet<ChannelID> = new Set()): ChannelRow[] {
  const ids = new Set(channels.map((c) => c.channel_id));
  const children = new Map<string, ChannelView[]>();
  const roots: ChannelView[] = [];
  for (const c of channels) {
    if (c.kind === "demo") continue;
    if (c.parent_id && ids.has(c.parent_id)) children.set(c.parent_id, [...(children.get(c.parent_id) ?? []), c]);
    else roots.push(c);
  }
  const out: ChannelRow[] = [];
  const seen = new Set<string>();
  /** A channel and all below it, each once. */
  const gather = (c: ChannelView): ChannelView[] => {
    if (seen.has(c.channel_id)) return [];
    seen.add(c.channel_id);
    return [c, ...(children.get(c.channel_id) ?? []).flatMap(gather)];
  };
  const add = (c: ChannelView, depth: number) => {
    if (seen.has(c.channel_id)) return;
    const kids = children.get(c.channel_id) ?? [];
    const folded = kids.length > 0 && closed.has(c.channel_id);
    const said = folded ? gather(c) : [c];
    seen.add(c.channel_id);
    out.push({ channel: c, depth, hasChildren: kids.length > 0, folded, speaksFor: said.map((x) => x.channel_id), ...strongest(said) });
    if (!folded) for (const k of kids) add(k, depth + 1);
  };
  for (const c of roots.sort((a, b) => a.name.localeCompare(b.name, "en", { sensitivity: "base" }))) add(c, 0);
  return out;
}
