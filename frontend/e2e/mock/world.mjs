// The state of the mock, in the backend's place. Each event has a number (seq), and a
// stored one also an id, as backend/core/event.go says.
import { randomBytes } from "node:crypto";

export const newID = () => randomBytes(16).toString("hex");
const STORED = new Set(["terminal.talk", "rewind.went", "rewind.undone", "message.created", "agent.thinking", "tool.use", "tool.result", "agent.activity", "agent.status", "run.notice", "agent.raw", "run.attempt", "run.background", "agent.ask_user", "agent.exit_plan", "agent.ask_resolved", "agent.plan_resolved", "agent.todos", "message.updated", "message.deleted"]);

export function fail(code, cause, remedy, detail) {
  return Object.assign(new Error(cause), { failure: { code, cause, remedy, detail } });
}

const MODEL = "claude-sonnet-4-5-20250929";

/** The use of a run: its cost, its tokens by model, and how full its context was. */
export function used(cost, percent, estimated = false) {
  const n = Math.round(cost * 400_000);
  const model_usage = [{ model: MODEL, input_tokens: Math.round(n * 0.03), cache_read_tokens: Math.round(n * 0.92), cache_write_tokens: Math.round(n * 0.05), output_tokens: Math.round(n / 40), cost_usd: cost, context_window: 200_000 }];
  return { cost_usd: cost, cost_estimated: estimated || undefined, model_usage, context: { used_tokens: percent * 2000, window_tokens: 200_000 }, session_cost_usd: cost };
}

export class World {
  constructor(scenario = "work", now = Date.now) {
    this.now = now;
    this.seq = 0;
    this.mode = "headless"; // or window
    this.launch = newID();
    this.ring = []; // the last events, for pages that come back
    this.nextId = 1;
    this.channels = new Map();
    this.memory = {}; // what pages ask Loop to keep: layouts and sizes
    this.events = new Map(); // channel → stored events
    this.live = new Map(); // channel → LiveMessage
    this.runs = new Map();
    this.queues = new Map();
    this.questions = new Map();
    this.maxRuns = 8;
    this.sessions = new Map(); // channel → conversations kept
    this.containers = [];
    this.leaving = { stays: false, ends: [], goes_on: [], waits: [] }; // what would end, go on or wait if Loop quit
    this.listeners = new Set();
    this.gate = null; // mock/gate.mjs
    this.gateStatus = { state: "on", text: "on", probed: new Date(now()).toISOString() };
    this.cost = 0; // of today's runs
    this.costEstimated = false;
    this.failNext = new Map(); // "Service.Method" → failure for the next call
    this.failEach = new Map(); // "Service.Method" → failure for every call
    this.held = new Map(); // "Service.Method" → a promise that its calls wait for
    this.engine = { ok: true, host: "unix:///var/run/docker.sock", source: "default socket", name: "Docker", version: "28.3.0", api_version: "1.51", os: "linux", arch: "amd64", rootless: false };
    this.image = { state: "ready", ref: "loop-agent:latest", id: "sha256:5f2c" };
    this.config = { path: "/home/ana/.loop/config.json", problems: [], has_credentials: true, credential_kind: "anthropic_api_key", theme: "dark", terminal: { font_family: "", font_size: 13, shift_enter: "newline", bell: "mark", copy_on_select: false, screen_reader: false } };
    this.scenario = scenario;
    if (scenario === "fresh") {
      this.gateStatus = { state: "unknown", text: "not probed yet", why: "Loop probes the gate in the first container, before anything runs in it." };
      this.config.has_credentials = false;
      delete this.config.credential_kind;
      this.image = { state: "missing", ref: "loop-agent:latest" };
    }
  }

  emit(type, channel, run, data, at = this.now()) {
    const ev = { seq: ++this.seq, type, timestamp: at, data };
    if (channel) ev.channel_id = channel;
    if (run) ev.run_id = run;
    if (STORED.has(type) || (run && /^gate\.(asked|resolved)$/.test(type))) {
      ev.id = this.nextId++;
      if (!this.events.has(channel)) this.events.set(channel, []);
      this.events.get(channel).push({ ...ev, seq: 0 });
    }
    this.ring.push(ev);
    if (this.ring.length > 8192) this.ring.shift();
    for (const l of this.listeners) l([ev]);
    return ev;
  }

  /** Holds back the answers of this method until the caller calls the returned function. */
  hold(name) {
    let go;
    this.held.set(name, new Promise((r) => (go = r)));
    return () => {
      this.held.delete(name);
      go();
    };
  }

  /** Forgets the recent events, so that a page that was away must take a snapshot. */
  forget() {
    this.seq += 1;
    this.ring = [];
  }

  /** The first events for a page that comes back and was at {launch, since}. */
  missed(query) {
    if (!query.has("since")) return [];
    const since = Number(query.get("since"));
    const oldest = this.ring[0]?.seq ?? this.seq + 1;
    if (query.get("launch") !== this.launch || since > this.seq || since < oldest - 1) {
      return [{ seq: this.seq, type: "reset", timestamp: this.now(), data: { launch: this.launch } }];
    }
    return this.ring.filter((e) => e.seq > since);
  }

  addChannel(name, dir, kind = "project", extra = {}) {
    const ch = { channel_id: newID(), kind, name, dir, created_at: new Date(this.now()).toISOString(), ...extra };
    this.channels.set(ch.channel_id, ch);
    this.events.set(ch.channel_id, this.events.get(ch.channel_id) ?? []);
    this.queues.set(ch.channel_id, []);
    this.emit("channel.created", ch.channel_id, "", ch);
    return ch;
  }

  view(ch) {
    const runs = [...this.runs.values()].filter((r) => r.channel_id === ch.channel_id);
    const active = runs.find((r) => r.state === "starting" || r.state === "running");
    const last = runs.findLast((r) => r.ended_at);
    const queued = this.queues.get(ch.channel_id)?.length ?? 0;
    const asks = [...this.questions.values()].some((q) => q.state === "open" && q.channel_id === ch.channel_id);
    const state = ch.state ?? (asks ? "needs_you" : active ? "working" : queued ? "queued" : !last || last.state === "cancelled" ? "idle" : last.state === "done" ? "done" : "failed");
    return { ...ch, state, running_since: active?.started_at, queued, last_event_id: this.events.get(ch.channel_id)?.at(-1)?.id ?? 0, last_error: last?.outcome?.failure ?? null };
  }

  snapshot() {
    return {
      seq: this.seq, launch: this.launch, version: "v0.2.0", mode: this.mode, engine: this.engine, image: this.image, channels: [...this.channels.values()].map((c) => this.view(c)),
      containers: this.containers, config: this.config, cost_today: { cost_usd: this.cost, cost_estimated: this.costEstimated, last_event_id: this.nextId - 1 }, approvals: [...(this.gate?.pending.values() ?? [])], gate: this.gateStatus, max_runs: this.maxRuns,
    };
  }

  /** Asks the person as the agent would. The channel's queue stands still until the answer. */
  ask(run, kind, more) {
    const q = { question_id: newID(), channel_id: run.channel_id, run_id: run.run_id, kind, state: "open", tool_use_id: newID(), created_at: new Date(this.now()).toISOString(), ...more };
    this.questions.set(q.question_id, q);
    this.emit(kind === "exit_plan" ? "agent.exit_plan" : "agent.ask_user", run.channel_id, run.run_id, { ...q });
    return q;
  }

  parked(channel) {
    return [...this.questions.values()].some((q) => q.state === "open" && q.channel_id === channel);
  }

  timeline(id, before, limit) {
    if (!this.channels.has(id)) throw fail("not_found", "That channel is not there any more.", "Choose another one.");
    const all = this.events.get(id) ?? [];
    const older = before ? all.filter((e) => e.id < before) : all;
    const n = Math.min(limit || 200, 1000);
    const page = { events: older.slice(-n), has_more: older.length > n, live: null, queue: null };
    if (!before) {
      page.live = this.live.get(id) ?? null;
      page.queue = this.queues.get(id);
    }
    return page;
  }
}
