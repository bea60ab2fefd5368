// The record of decisions, as the panel shows it: the entries of one run in the groups of its
// tool calls, like ones together.
import type { GateLogFile, GateRecord } from "../api/types";
import { duration, plural } from "./format";
import { verb } from "./gate";

/** The kind of the panel. */
export const DECISIONS_PANEL = "decisions";

/** How many records are read; older ones are on the command line. */
export const READ_MOST = 10_000;

export type LogFilter = { show: "all" | "asked" | "denied"; kind: "" | "file" | "execve" | "connect"; text: string };
export const NO_FILTER: LogFilter = { show: "all", kind: "", text: "" };

/** Whether a person was asked: such a decision names how far it reaches, or that nobody answered. */
export const wasAsked = (r: GateRecord): boolean => Boolean(r.digest);
export const wasDenied = (r: GateRecord): boolean => r.decision !== "allowed" && r.decision !== "waiting";

/** Entries that are alike, the first of which stands for all. */
export type LogEntry = { key: string; record: GateRecord; calls: number; alike: number };
export type LogGroup = { key: string; tool: string; at: string; entries: LogEntry[]; calls: number };
export type LogRow = { kind: "group"; group: LogGroup; open: boolean } | { kind: "entry"; entry: LogEntry };

const ALIKE = ["kind", "operation", "target", "rule", "decision", "by", "scope"] as const;

/** The runs that have entries, newest first; what a terminal's programs did is the run "". */
export function runsOf(records: GateRecord[]): { run: string; at: string; entries: number }[] {
  const by = new Map<string, { run: string; at: string; entries: number }>();
  for (const r of records) {
    const run = r.run_id ?? "";
    const known = by.get(run);
    if (!known) by.set(run, { run, at: r.at, entries: 1 });
    else {
      known.entries++;
      if (r.at < known.at) known.at = r.at;
    }
  }
  return [...by.values()].sort((a, b) => b.at.localeCompare(a.at));
}

export function passes(r: GateRecord, f: LogFilter): boolean {
  if (f.show === "asked" && !wasAsked(r)) return false;
  if (f.show === "denied" && !wasDenied(r)) return false;
  if (f.kind && r.kind !== f.kind) return false;
  const text = f.text.trim().toLowerCase();
  return !text || [r.target, r.rule, r.command, r.by].some((s) => s?.toLowerCase().includes(text));
}

/** Groups by tool call, in the order in which these began. What belongs to none stands where it happened. */
export function groupsOf(records: GateRecord[]): LogGroup[] {
  const out: LogGroup[] = [];
  const by = new Map<string, LogGroup>();
  const alike = new Map<string, LogEntry>();
  for (const r of [...records].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const tool = r.tool_use_id ?? "";
    let g = tool ? by.get(tool) : out.at(-1)?.tool === "" ? out.at(-1) : undefined;
    if (!g) {
      g = { key: `${tool || "none"} ${r.at} ${out.length}`, tool, at: r.at, entries: [], calls: 0 };
      out.push(g);
      if (tool) by.set(tool, g);
    }
    const calls = Math.max(1, r.calls);
    g.calls += calls;
    const what = wasAsked(r) ? "" : JSON.stringify([g.key, ...ALIKE.map((k) => r[k] ?? "")]);
    const same = what ? alike.get(what) : undefined;
    if (same) {
      same.calls += calls;
      same.alike++;
      continue;
    }
    const entry = { key: r.hash, record: r, calls, alike: 1 };
    g.entries.push(entry);
    if (what) alike.set(what, entry);
  }
  return out;
}

/** The rows that are drawn. folded has the groups that are closed. */
export function rowsOf(groups: LogGroup[], folded: ReadonlySet<string>): LogRow[] {
  return groups.flatMap((group): LogRow[] => {
    const open = !folded.has(group.key);
    return [{ kind: "group", group, open }, ...(open ? group.entries.map((entry): LogRow => ({ kind: "entry", entry })) : [])];
  });
}

const DECISIONS: Record<string, string> = { allowed: "allowed", denied: "denied", expired: "expired", withdrawn: "withdrawn", broken: "link broke", waiting: "not taken" };
export const decisionWord = (r: GateRecord): string => DECISIONS[r.decision] ?? r.decision;

/** Grey is a rule; colour a person, or a denial. */
export function toneOf(r: GateRecord): "" | "yes" | "no" {
  if (wasDenied(r)) return r.decision === "withdrawn" ? "" : "no";
  return wasAsked(r) ? "yes" : "";
}

const PEOPLE = new Set(["window", "dialog", "notification", "command line", "a person"]);
const SCOPES: Record<string, string> = { once: "once", run: "this run", project: "this project", always: "always" };

export function byWords(r: GateRecord): string {
  if (r.decision === "expired") return "nobody answered";
  if (PEOPLE.has(r.by)) return ["you", SCOPES[r.scope ?? ""]].filter(Boolean).join(", ");
  if (r.rule && !wasAsked(r) && /rule/.test(r.by)) return r.rule;
  return r.by;
}

/** What a record is about, where it names no object. */
export function objectWords(r: GateRecord): string {
  if (r.target) return r.target;
  return r.kind === "counted" ? (r.rule ? `calls that ${r.rule} covers` : "other calls") : r.kind;
}

/** How long it took a person; a rule's time is not written down. */
export const tookWords = (r: GateRecord): string => (r.latency_ms > 0 ? duration(r.latency_ms) : "");

/** “312 entries · 2 asked · 29 s to answer on average” */
export function summary(records: GateRecord[]): string {
  const calls = records.reduce((n, r) => n + Math.max(1, r.calls), 0);
  const waits = records.filter((r) => wasAsked(r) && r.latency_ms > 0);
  const mean = waits.reduce((n, r) => n + r.latency_ms, 0) / waits.length;
  return [plural(records.length, "entry", "entries"), plural(calls, "call"), waits.length > 0 && `${duration(mean)} to answer on average`].filter(Boolean).join(" · ");
}

/** The rule that says of the same act what was said of it, as it would stand in the settings. null: the record names no object. */
export function ruleOf(r: GateRecord): { list: string; json: string } | null {
  if (!r.target || r.kind === "counted" || r.kind === "log") return null;
  const literal = r.target.replace(/[*?[\]{}\\]/g, "\\$&");
  const decision = wasDenied(r) ? "deny" : "allow";
  if (r.kind === "connect") return { list: "path_rules", json: JSON.stringify({ pattern: literal, decision }) };
  if (r.kind === "execve") return null; // its arguments are not a rule's to read here
  return { list: "file_rules", json: JSON.stringify({ paths: [literal], operations: [r.operation], decision }) };
}

/** Credentials, sockets of the host, ways out and the gate itself are never remembered. */
const NEVER = new Set(["credential", "socket", "escape", "gate"]);
export const canBeRule = (r: GateRecord): boolean => ruleOf(r) !== null && (wasDenied(r) || !NEVER.has(r.category ?? ""));

/** What is wrong with the files of a channel, or "". The first is enough: all after it is in doubt. */
export function brokenWords(files: GateLogFile[], channel: string): string {
  const bad = files.find((f) => f.channel_id === channel && f.broken);
  return bad ? `The record is not as it was written. ${bad.file}: ${bad.broken}.` : "";
}

export const sentence = (r: GateRecord): string => `${decisionWord(r)}: ${verb(r)} ${objectWords(r)}`;
