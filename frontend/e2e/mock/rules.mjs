// Mock of the gate's rules: a short list that can be tried, changed and undone.
import { fail } from "./world.mjs";

const HOME = "/home/ana/.loop/config.json";
const WORDS = { allow: "Allow", deny: "Deny", approve: "Ask before" };
const builtIn = (origin, id, decision, calls, patterns, hits = 0) => ({ origin, id, class: "file_rules", decision, calls, patterns, hits });
const own = (id, decision, calls, patterns, hits = 0, more = {}) => ({ origin: "yours", id, class: "file_rules", decision, calls, patterns, hits, path: HOME, scope: "always", editable: true, ...more });

const START = [
  builtIn("first", "gate.own", "deny", ["write", "create"], ["/etc/loop/**"]),
  { ...builtIn("project", "migrations", "approve", ["write"], ["<project>/migrations/**"], 12), path: "/srv/api-server/.loop/config.json", scope: "project", line: 4 },
  own("go", "allow", ["create", "write"], ["~/.cache/go-build/**"], 2914),
  own("trim", "approve", ["write"], ["~/.cache/go-build/trim.txt"], 0, { under: "go" }),
  own("gh", "allow", ["write"], ["~/.config/gh/**\u202e"], 0, { stale: true }),
  builtIn("built_in", "startup.shell", "approve", ["write", "create"], ["~/.bashrc", "~/.profile", "~/.zshrc"], 3),
  builtIn("built_in", "credential.home", "deny", ["read", "write"], ["**/.ssh/**", "**/.netrc"], 4),
  { origin: "default", id: "", class: "default", decision: "allow", calls: [], patterns: [], hits: 74, text: "Allow everything else." },
];

export const SUGGESTED = [
  { class: "file_rules", rule: JSON.stringify({ paths: ["/home/ana/.cache/pip/**"], operations: ["write", "create"], decision: "allow" }), text: "Allow write, create of /home/ana/.cache/pip/**.", from: "answers", asked: 41, runs: 4, channels: 1, denied: 0 },
  { class: "file_rules", rule: JSON.stringify({ paths: ["/home/ana/.npmrc"], operations: ["write", "create"], decision: "allow" }), text: "Allow write, create of /home/ana/.npmrc.", from: "shadow", asked: 9, runs: 2, channels: 1, denied: 0 },
];
const LISTS = { file_rules: "paths", command_rules: "commands" };
const covers = (a, b) => a === b || (a.endsWith("/**") && b.startsWith(a.slice(0, -2)));
const written = (p) => p.replace(/^~/, "/home/*");

export class Rules {
  constructor(world) {
    this.w = world;
    this.rules = START.map((r) => ({ ...r }));
    this.files = [{ origin: "yours", path: HOME }, { origin: "project", path: "/srv/api-server/.loop/config.json", approved: true }];
    this.before = []; // what changes can take back, the newest last
    this.suggested = [];
    this.mode = "enforce";
    this.own = false;
  }

  list(id) {
    const index = new Map();
    const rules = this.rules.map((r, i) => {
      const list = `${r.origin} ${r.class}`, at = index.get(list) ?? 0;
      index.set(list, at + 1);
      const under = this.rules.findIndex((x) => x.id === r.under);
      const last = r.hits > 0 ? { last_used: new Date(this.w.now() - 600_000).toISOString() } : {};
      const text = r.text ?? `${WORDS[r.decision]} ${r.calls.join(", ")} of ${r.patterns.join(", ")}.`;
      return { ...r, ...last, number: i + 1, index: at, text, rule: r.editable ? (r.rule ?? JSON.stringify({ id: r.id, paths: r.patterns.map(written), operations: r.calls, decision: r.decision, ...(r.off ? { off: true } : {}) })) : "", recent: Math.min(9, r.hits), shadowed_by: r.under && under >= 0 && under < i ? under + 1 : 0 };
    });
    const undo = this.before.at(-1);
    return {
      channel_id: id, policy: "agent", mode: this.mode, mode_from: this.own ? this.w.channels.get(id)?.dir : "settings", enabled: true, rules, files: this.files,
      version: rules.map((r) => `${r.id}${r.off ? " off" : ""}`).join(), recent: 120, uncounted: "Calls that are only counted together are left out.", ...(undo ? { undo: { id: undo.id, at: new Date(this.w.now()).toISOString(), text: undo.text, scope: "always" } } : {}),
    };
  }

  /** The rule that was sent, as a row. Loop reads it strictly; here a bad pattern is enough. */
  read(cls, text) {
    const rule = JSON.parse(text), patterns = cls === "path_rules" ? [rule.pattern] : (rule[LISTS[cls]] ?? []);
    const bad = cls === "file_rules" ? patterns.find((p) => !p.startsWith("/")) : undefined;
    if (bad) throw fail("invalid_input", `The rule cannot be used: The path ${JSON.stringify(bad)} is not valid: a pattern begins with “/”; “/**/name” is a name anywhere.`, "Write /home/* in place of “~”: it is any home.");
    const calls = rule.operations ?? (cls === "command_rules" ? ["run"] : cls === "path_rules" ? ["connect"] : ["read", "write", "create", "delete", "chmod", "chown", "link"]);
    return { id: rule.id ?? `rule-${patterns[0]}`, class: cls, decision: rule.decision, calls, patterns, message: rule.message, off: rule.off, rule: text, hits: 0, path: HOME, editable: true };
  }

  matches(id, c) {
    const r = this.read(c.class, c.rule), what = `${WORDS[r.decision]} ${r.calls.join(", ")} of ${r.patterns.join(", ")}.`;
    const secret = r.decision === "allow" && r.patterns.some((p) => p.includes(".ssh"));
    const past = ["/home/ana/.cache/pip/http/a1", "/home/ana/.cache/pip/http/b2", "/home/ana/.cache/go-build/trim.txt", "/home/ana/.bashrc"];
    const hits = past.filter((t) => r.patterns.some((p) => covers(p, t)));
    const others = this.list(id).rules.filter((x) => x.class === c.class && !(c.replaces && x.editable && x.index === c.index));
    const under = (a, b) => a.length > 0 && b.length > 0 && b.every((p) => a.some((q) => covers(written(q), written(p))));
    const by = others.find((x) => (x.origin === "first" || x.index < c.index) && under(x.patterns, r.patterns));
    return {
      text: what, of: 120, total: hits.length, denied: 0, matches: hits.map((t, i) => ({ at: new Date(this.w.now() - i * 60_000).toISOString(), what: `write ${t}`, decision: "allowed" })),
      ...(by ? { shadowed_by: by.id } : {}), shadows: others.filter((x) => x.editable && x.index >= c.index && under(r.patterns, x.patterns)).map((x) => x.id),
      ...(secret ? { refused: { code: "forbidden", cause: "The rule would also allow what credential.home guards (/home/*/.ssh/**), and that is never allowed for good.", remedy: "Write a narrower pattern, or have the rule ask." } } : {}),
    };
  }

  add(e) {
    const row = { ...this.read(e.class, e.rule), origin: e.scope === "always" ? "yours" : "remembered", scope: e.scope };
    this.before.push({ id: `edit-${this.before.length + 1}`, text: `Added: ${row.id}`, rules: this.rules });
    const rules = [...this.rules];
    const at = rules.findIndex((r) => (row.origin === "yours" ? r.origin === "yours" : r.origin === "remembered" || r.origin === "yours"));
    rules.splice(at, 0, row);
    this.rules = rules;
    return this.told(e.channel_id);
  }

  edit(e) {
    if (e.action === "add") return this.add(e);
    const list = this.list(e.channel_id).rules;
    const find = (index) => list.findIndex((r) => r.editable && r.class === e.class && r.index === index && r.scope === e.scope);
    const at = find(e.index);
    if (at < 0 || list[at].rule !== e.was) throw fail("conflict", "It is another rule by now.", "Look at the list again.");
    this.before.push({ id: `edit-${this.before.length + 1}`, text: `${e.action}: ${list[at].text}`, rules: this.rules });
    const next = [...this.rules];
    const [rule] = next.splice(at, 1);
    if (e.action === "move") next.splice(find(e.to), 0, rule);
    if (e.action === "change") next.splice(at, 0, { ...rule, ...this.read(e.class, e.rule) });
    if (e.action === "off" || e.action === "on") {
      const turned = { ...JSON.parse(list[at].rule), ...(e.action === "off" ? { off: true } : { off: undefined }) };
      next.splice(at, 0, { ...rule, off: e.action === "off", rule: JSON.stringify(turned) });
    }
    this.rules = next;
    return this.told(e.channel_id);
  }

  told(id) {
    this.w.emit("gate.rules", "", "", null);
    return this.list(id);
  }

  calls() {
    return {
      "GateRules.List": (id) => this.list(id),
      "GateRules.Edit": (e) => this.edit(e),
      "GateRules.Matches": (id, c) => this.matches(id, c),
      "GateRules.Suggestions": () => this.suggested,
      "GateRules.Undo": (id, edit) => {
        const at = this.before.findIndex((b) => b.id === edit);
        if (at < 0) throw fail("conflict", "That change cannot be taken back any more.", "Change the rule itself.");
        this.rules = this.before[at].rules;
        this.before.length = at;
        return this.told(id);
      },
      "GateRules.SetMode": (id, mode) => {
        const dir = this.w.channels.get(id).dir;
        this.own = mode !== "" && mode !== "enforce";
        this.mode = mode || "enforce";
        this.w.gateStatus = { ...this.w.gateStatus, modes: this.own ? { [dir]: mode } : {} };
        this.w.emit("gate.status", "", "", this.w.gateStatus);
        return this.list(id);
      },
      "GateRules.Try": ({ call }) => {
        const what = call.path ?? call.line ?? call.connect;
        if (what === "~/") throw fail("invalid_input", "That names a folder.", "Name a file.");
        const { rules } = this.list("");
        const hit = (r) => (r.patterns ?? []).some((p) => (p.endsWith("**") ? what.startsWith(p.slice(0, -2)) : what === p));
        const by = rules.find((r) => hit(r) && r.calls.includes(call.operation)) ?? rules.at(-1);
        const now = this.mode === "enforce" ? by.decision : "allow";
        const steps = [{ from: 1, to: by.number - 1, outcome: "none", text: "no match" }, { from: by.number, to: by.number, outcome: "decides", text: "matches and decides" }];
        return { what, decision: by.decision, now, mode: this.mode, number: by.number, rule: by.id, reason: `Rule ${by.number} decides.`, steps, case: JSON.stringify({ ...call, want: by.decision }) };
      },
    };
  }
}
