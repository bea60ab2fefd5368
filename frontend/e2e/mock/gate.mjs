// Mock of the gate: calls that are held, and what a person answers.
import { Record } from "./record.mjs";
import { Rules } from "./rules.mjs";
import { fail, newID } from "./world.mjs";

const MINUTES_5 = 300_000;

/** A held call as a run's agent causes it. */
export const GIT_CONFIG = {
  kind: "file", operation: "write", title: "Write to a file outside the project", target: "/home/ana/.gitconfig", asked_as: "/home/ana/.gitconfig.lock", call: "renameat2", calls: 2,
  why: "no rule covers writes in the home folder, and the default is to ask", consequence: "changes how Git behaves for every project in this container", category: "startup",
  processes: [{ pid: 342, exe: "/usr/bin/git", command: "git config --global rerere.enabled true" }, { pid: 341, exe: "/usr/bin/bash", command: "bash -c …" }, { pid: 87, exe: "/usr/local/bin/claude", command: "claude -p" }],
  diff: "@@ -1,3 +1,5 @@\n [user]\n \tname = Ana\n \temail = ana@example.com\n+[rerere]\n+\tenabled = true\n",
};

export const offers = (now = Date.now()) => {
  const matches = [
    { at: new Date(now).toISOString(), what: "git config --global rerere.enabled true", decision: "waiting", own: true },
    { at: new Date(now - 2_538_000).toISOString(), what: "git config --global user.email ana@example.com", decision: "allowed" },
    { at: new Date(now - 8_149_000).toISOString(), what: "git config --global core.hooksPath /tmp/hooks", decision: "denied" },
  ];
  const rule = JSON.stringify({ paths: ["/home/ana/.gitconfig{,.lock}"], operations: ["write", "create"], decision: "allow" });
  return ["run", "project", "always"].map((scope) => ({ scope, pattern: "/home/ana/.gitconfig{,.lock}", rule, matches, of: 500 }));
};

export const CONNECT = {
  kind: "connect", operation: "connect", title: "Connect to a local service", target: "/run/user/1000/keyring/control", asked_as: "", call: "connect", calls: 1, category: "socket",
  why: "a socket of this user's session is behind it", consequence: "can read what the keyring holds", processes: [{ pid: 12, exe: "/usr/bin/node", command: "node install/prebuild.js" }],
};

const items = (n, operation, name, from, to) => Array.from({ length: n }, (_, i) => ({ operation, target: name(i), at: new Date(from + ((to - from) * i) / Math.max(1, n - 1)).toISOString(), calls: 1 }));

/** A run that asks too much, in four groups, as in the pictures of the aim. */
export function floodOf(now = Date.now()) {
  const group = (id, kind, operation, target, wide, why, n, operations, name, more = {}) => {
    const list = items(n, operations, name, now - 38_000, now - 2000);
    return { id, kind, operation, target, wide, calls: n, why, first: list[0].at, last: list.at(-1).at, items: list, ...more };
  };
  const built = ["tar.br.part", "lib/libvips.so.42", "lib/libheif.so.1"];
  const groups = [
    group("g-files", "file", "write", "/home/ana/.npm/_prebuilds", "/**", "no rule covers it, and the default is to ask", 14, "create", (i) => `/home/ana/.npm/_prebuilds/8.17.3-linux-x64/${built[i] ?? `lib/part-${i}`}`),
    group("g-socket", "connect", "connect", "/run/user/1000/gvfsd/socket-1", "", "a service of the session", 6, "connect", () => "/run/user/1000/gvfsd/socket-1"),
    group("g-program", "execve", "run", "/tmp/prebuild-7/bin/vips", " *", "a program that came with a package", 2, "run", (i) => `/tmp/prebuild-7/bin/vips --size ${i}`),
    group("g-secret", "file", "read", "/home/ana/.npmrc", "", "it holds a registry token", 1, "read", () => "/home/ana/.npmrc", { category: "credential", once_only: true }),
  ];
  const processes = [{ pid: 344, exe: "/usr/bin/node", command: "node install/prebuild.js" }, { pid: 343, exe: "/usr/bin/npm", command: "npm rebuild sharp" }, ...GIT_CONFIG.processes.slice(1)];
  return {
    kind: "flood", title: "This run asks too much", target: "everything that it asks", asked_as: "", consequence: "", category: "", diff: undefined, calls: 23,
    why: "more than 20 questions were open at once", processes, other_processes: 3, groups,
  };
}

export class Gate {
  constructor(world) {
    this.w = world;
    this.pending = new Map();
    this.record = new Record(world);
    this.rules = new Rules(world);
    this.over = new Map(); // approval → what to call once it needs no answer
  }

  /** Holds a call. The promise is fulfilled by its answer, true for one that allows it. */
  ask(channel, more = {}, run = null) {
    const now = this.w.now();
    const a = {
      approval_id: newID(), channel_id: channel.channel_id, spawn_id: newID(), state: "waiting", digest: newID(), created_at: new Date(now).toISOString(),
      deadline: new Date(now + MINUTES_5).toISOString(), ...GIT_CONFIG, ...(run ? { run_id: run.run_id } : {}), ...more,
    };
    if (a.diff && a.kind !== "file") delete a.diff;
    this.pending.set(a.approval_id, a);
    this.emit("gate.asked", a);
    const answered = new Promise((r) => this.over.set(a.approval_id, r));
    return { a, answered };
  }

  emit(type, a) {
    this.w.emit(type, a.channel_id, a.run_id ?? "", { ...a });
  }

  change(id, more) {
    const a = Object.assign(this.pending.get(id), more);
    this.emit("gate.changed", a);
  }

  end(id, state, more = {}) {
    const a = this.pending.get(id);
    this.pending.delete(id);
    Object.assign(a, { state, resolved_at: new Date(this.w.now()).toISOString(), ...more });
    this.emit("gate.resolved", a);
    this.over.get(id)(state === "allowed");
    return { ...a };
  }

  /** Answered groups leave; those that are asked one by one are questions of their own. */
  answerGroups(a, said, by) {
    const known = (s) => a.groups.some((g) => g.id === s.id);
    if (!said.every(known)) throw fail("conflict", "The calls that wait are others than were shown.", "Look at the groups again, then answer.");
    const run = a.run_id ? { run_id: a.run_id } : null;
    const gone = a.groups.filter((g) => said.some((s) => s.id === g.id));
    for (const g of gone.filter((x) => said.some((s) => s.id === x.id && s.verdict === "ask"))) {
      for (const i of g.items) this.ask({ channel_id: a.channel_id }, { kind: g.kind, operation: i.operation, target: i.target, asked_as: "", title: "Write to a file", calls: 1, tool_use_id: a.tool_use_id, diff: undefined }, run);
    }
    const groups = a.groups.filter((g) => !gone.includes(g));
    const calls = groups.reduce((n, g) => n + g.calls, 0);
    if (groups.length === 0) return this.end(a.approval_id, "allowed", { scope: "once", by, reason: "21 allowed, 2 denied", calls });
    this.change(a.approval_id, { groups, calls });
    return { ...a };
  }

  calls() {
    const need = (id) => this.pending.get(id) ?? (() => { throw fail("conflict", "That call does not wait any more.", "Look at the timeline."); })();
    return {
      "Gate.Pending": () => [...this.pending.values()],
      "Gate.Answer": (id, { allow, scope, digest, by, groups }) => {
        if (need(id).digest !== digest) throw fail("conflict", "The call has changed since it was shown.", "Look at it again.");
        if (groups?.length) return this.answerGroups(need(id), groups, by);
        return this.end(id, allow ? "allowed" : "denied", { scope, by });
      },
      ...this.rules.calls(),
      ...this.record.calls(),
      "Gate.Extend": (id) => {
        const a = need(id);
        this.change(id, { deadline: new Date(Date.parse(a.deadline) + MINUTES_5).toISOString() });
        return { ...a };
      },
    };
  }
}
