// Mock of the record of decisions.
import { fail, newID } from "./world.mjs";

/** Records of a run: of two tool calls that the timeline has, and some of none. */
export function recordsOf(channel, run, tools, n = 3) {
  const list = [];
  const add = (more) => list.push({
    id: newID(), at: new Date(Date.now() - 600_000 + list.length * 1000).toISOString(), channel_id: channel.channel_id, run_id: run, spawn_id: newID(), tool_use_id: "", kind: "file", operation: "write",
    target: "/home/ana/x", rule: "", category: "", decision: "allowed", by: "a rule", calls: 1, latency_ms: 0, pid: 342, exe: "/usr/bin/git", command: "git config --global rerere.enabled true", policy: "27", hash: newID() + newID(), prev: newID() + newID(), ...more,
  });
  for (let i = 0; i < n; i++) add({ tool_use_id: tools[0], kind: "counted", target: "", operation: "write", rule: "plan.own", calls: 70 });
  add({ tool_use_id: tools[0], target: "/home/ana/.gitconfig", decision: "allowed", by: "window", scope: "once", digest: "d", latency_ms: 72_000, rule: "startup.git-home", category: "startup" });
  add({ tool_use_id: tools[1], operation: "read", target: "/home/ana/.netrc\u202e", decision: "denied", rule: "credential.home", category: "credential" });
  add({ kind: "connect", operation: "connect", target: "/run/user/1000/bus", decision: "expired", by: "time", digest: "e", latency_ms: 300_000, category: "socket" });
  return list;
}

const ALIKE = ["run_id", "tool_use_id", "kind", "operation", "target", "rule", "decision", "by"];
const alike = (a, b) => !a.digest && !b.digest && ALIKE.every((k) => a[k] === b[k]);
const denied = (r) => r.decision !== "allowed";
const RULE = { number: 7, id: "startup.git-home", origin: "built_in", class: "file", index: 0, decision: "approve", calls: ["write"], patterns: ["~/.gitconfig"], text: "Asks before something writes ~/.gitconfig.", hits: 1, recent: 1 };

export class Record {
  constructor(world) {
    this.w = world;
    this.list = []; // oldest first
    this.breaks = []; // what the verification finds
    this.asked = []; // the queries of pages
  }

  of({ channel_id, run_id, no_run }) {
    return this.list.filter((r) => r.channel_id === channel_id && (!run_id || r.run_id === run_id) && (!no_run || !r.run_id));
  }

  entry(r, i) {
    return { record: { ...r }, day: r.at.slice(0, 10), entry: i + 1, alike: 1, first: r.at, asked: Boolean(r.digest) };
  }

  page(q) {
    this.asked.push(q);
    const text = (q.text ?? "").toLowerCase(), entries = [];
    const fits = (r) => (!q.decision || (q.decision === "asked" ? r.digest : q.decision === "refused" ? denied(r) : r.decision === q.decision)) && (!q.kind || r.kind === q.kind)
      && (!text || [r.target, r.rule, r.exe, r.command, r.by, r.operation].some((s) => s?.toLowerCase().includes(text)));
    const own = new Set(this.of(q));
    let next = "";
    for (let i = (q.after ? Number(q.after) : this.list.length) - 1; i >= 0; i--) {
      const r = this.list[i], last = entries.at(-1);
      if (!own.has(r) || !fits(r)) continue;
      if (last && alike(last.record, r)) Object.assign(last, { alike: last.alike + 1, first: r.at, record: { ...last.record, calls: last.record.calls + r.calls } });
      else if (entries.length >= (q.limit || 200)) return { entries, next };
      else entries.push(this.entry(r, i));
      next = String(i);
    }
    return { entries };
  }

  summary(q) {
    const list = this.of(q), groups = new Map();
    for (const r of list) {
      const key = `${r.run_id} ${r.tool_use_id}`;
      const g = groups.get(key) ?? { run_id: r.run_id, tool_use_id: r.tool_use_id, first: r.at, last: r.at, entries: 0, calls: 0, asked: 0, denied: 0 };
      groups.set(key, { ...g, last: r.at, entries: g.entries + 1, calls: g.calls + r.calls, asked: g.asked + (r.digest ? 1 : 0), denied: g.denied + (denied(r) ? 1 : 0) });
    }
    const asked = list.filter((r) => r.digest), of = (kind) => list.filter((r) => r.kind === kind).length;
    return {
      entries: list.length, calls: list.reduce((n, r) => n + r.calls, 0), asked: asked.length, denied: list.filter(denied).length, files: of("file"), programs: of("execve"), sockets: of("connect"), counted: of("counted"),
      groups: [...groups.values()].reverse(), answer_ms: asked.reduce((n, r) => n + r.latency_ms, 0) / (asked.length || 1),
    };
  }

  why(channel, id) {
    const i = this.list.findIndex((r) => r.channel_id === channel && r.id === id);
    if (i < 0) throw fail("not_found", "No decision has this id.", "Look at the list again.");
    const r = this.list[i];
    const bad = this.breaks.find((b) => b.entry === i + 1);
    return { entry: this.entry(r, i), of: this.list.length, holds: !bad, ...(bad ? { broken: bad.text } : {}), ...(r.rule === RULE.id ? { rule: RULE } : {}) };
  }

  calls() {
    return {
      "GateLog.Page": (q) => this.page(q),
      "GateLog.Summary": (q) => this.summary(q),
      "GateLog.Why": (channel, id) => this.why(channel, id),
      "GateLog.Chain": () => ({ at: new Date().toISOString(), days: 1, entries: this.list.length, breaks: this.breaks }),
    };
  }
}
