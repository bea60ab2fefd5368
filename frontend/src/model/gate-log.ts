// The record of decisions, as the panel shows it: pages of entries, newest first, in groups of
// the tool calls that caused them.
import type { ChannelID, GateChain, GateLogEntry, GateLogGroup, GateLogPage, GateLogPageQuery, GateLogSummary, GateRecord, RunID } from "../api/types";
import { duration, plural } from "./format";
import { verb } from "./gate";
import { lineSegments } from "./gate-text";
import type { RuleDraft } from "./rule-draft";
import { hostOf, NEW_RULE, OPERATIONS } from "./rule-draft";

/** The kind of the panel. */
export const DECISIONS_PANEL = "decisions";

export type LogFilter = { show: "all" | "asked" | "denied"; kind: "" | "file" | "execve" | "connect" | "navigate"; text: string };
export const NO_FILTER: LogFilter = { show: "all", kind: "", text: "" };

/** Whose entries are shown: those of a run, of programs in terminals (""), or all. */
export type LogRun = RunID | "all";

/** What is asked of the record. Only the run counts for its summary. */
export function queryOf(channel: ChannelID, run: LogRun, f: LogFilter = NO_FILTER): GateLogPageQuery {
  const text = f.text.trim();
  return {
    channel_id: channel, ...(run === "all" ? {} : run === "" ? { no_run: true } : { run_id: run }),
    ...(f.show === "all" ? {} : { decision: f.show === "denied" ? "refused" : "asked" }), ...(f.kind ? { kind: f.kind } : {}), ...(text ? { text } : {}),
  };
}

/** Whether a person was asked: such a decision names how far it reaches, or that nobody answered. */
export const wasAsked = (r: GateRecord): boolean => Boolean(r.digest);
export const wasDenied = (r: GateRecord): boolean => r.decision !== "allowed" && r.decision !== "waiting";

/** An entry, and what tells it apart, also when more that is alike comes. */
export type LogEntry = GateLogEntry & { key: string };
export type LogGroup = { key: string; run: string; tool: string; at: string; entries: LogEntry[] };
export type LogRow = { kind: "group"; group: LogGroup; open: boolean } | { kind: "entry"; entry: LogEntry };

/** The runs that have entries, newest first, with the time of their first one; what programs in terminals did is the run "". */
export function runsOf(groups: GateLogGroup[]): { run: string; at: string; last: string }[] {
  const by = new Map<string, { run: string; at: string; last: string }>();
  for (const g of groups) {
    const run = g.run_id ?? "";
    const known = by.get(run);
    if (!known) by.set(run, { run, at: g.first, last: g.last });
    else {
      if (g.first < known.at) known.at = g.first;
      if (g.last > known.last) known.last = g.last;
    }
  }
  return [...by.values()].sort((a, b) => b.last.localeCompare(a.last));
}

/**
 * Groups the entries of pages by tool call, newest first. A page never changes the groups of
 * those before it but the last one, which it may go on with: rows that a person reads stay
 * where they are. So calls at the same time can have a group on each page.
 */
export function groupsOf(pages: GateLogPage[]): LogGroup[] {
  const out: LogGroup[] = [];
  const keys = new Map<string, number>();
  const unique = (what: string) => {
    const n = (keys.get(what) ?? 0) + 1;
    keys.set(what, n);
    return n > 1 ? `${what} ${n}` : what;
  };
  const idOf = (g: { run: string; tool: string }) => `${g.run} ${g.tool}`;
  for (const page of pages) {
    const last = out.at(-1);
    const here = new Map(last ? [[idOf(last), last]] : []);
    for (const e of page.entries ?? []) {
      const of = { run: e.record.run_id ?? "", tool: e.record.tool_use_id ?? "" };
      // What belongs to no call stands where it happened.
      let g = of.tool || idOf(of) === idOf(out.at(-1) ?? { run: "-", tool: "-" }) ? here.get(idOf(of)) : undefined;
      if (!g) {
        g = { ...of, key: unique(idOf(of)), at: e.record.at, entries: [] };
        out.push(g);
        here.set(idOf(of), g);
      }
      g.entries.push({ ...e, key: unique(`${e.first} ${e.record.operation} ${e.record.decision} ${e.record.target}`) });
    }
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

/** What is counted of the tool call of a group, or of what belongs to none in its run. */
export const countOf = (groups: GateLogGroup[], g: LogGroup): GateLogGroup | undefined =>
  groups.find((x) => (x.run_id ?? "") === g.run && (x.tool_use_id ?? "") === g.tool);

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

/** “312 entries · 1,204 calls · 29 s to answer on average” */
export function summaryWords(s: GateLogSummary): string {
  return [plural(s.entries, "entry", "entries"), s.calls > s.entries && plural(s.calls, "call"), s.answer_ms > 0 && `${duration(s.answer_ms)} to answer on average`].filter(Boolean).join(" · ");
}

/** The rule for the host of a page, and what is below it. */
function siteDraft(r: GateRecord): RuleDraft | null {
  const host = hostOf(r.target);
  if (!host) return null;
  return { ...NEW_RULE, class: "site_rules", decision: wasDenied(r) ? "deny" : "allow", patterns: /^[\d.]+$|^\[/.test(host) ? host : `${host}\n*.${host}` };
}

/** The rule that says of the same act what was said of it, for the editor. null: the record names no object that a rule could name. */
export function draftOfRecord(r: GateRecord): RuleDraft | null {
  if (r.kind === "navigate") return siteDraft(r);
  const file = r.kind === "file";
  if (!r.target || (!file && r.kind !== "connect")) return null; // the arguments of a program are not a rule's to read here
  return {
    ...NEW_RULE, class: file ? "file_rules" : "path_rules", decision: wasDenied(r) ? "deny" : "allow",
    ...(file ? { operations: OPERATIONS.filter((op) => op === r.operation) } : {}), patterns: r.target.replace(/[*?[\]{}\\]/g, "\\$&"),
  };
}

/** Credentials, sockets of the host, ways out and the gate itself are never remembered. */
const NEVER = new Set(["credential", "socket", "escape", "gate"]);

/** Why no rule can be written of a record, or "". The editor takes a line break as the end of a pattern, and drops blanks around it. */
export function noRuleWords(r: GateRecord): string {
  if (!draftOfRecord(r)) return "This entry names no object that a rule could name.";
  if (!wasDenied(r) && NEVER.has(r.category ?? "")) return "This is never remembered: no rule allows it.";
  return lineSegments(r.target).some((s) => s.hidden) ? "Its name has characters that cannot be seen, which no rule may have. Write a rule for its folder instead." : "";
}

const dayName = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", timeZone: "UTC" });

/** The day of a file, which is one of UTC: “22 November”. */
export const dayWords = (day: string): string => (Number.isFinite(Date.parse(day)) ? dayName.format(Date.parse(day)) : day);

/** Where the chain of a channel is broken, or "". The first place is enough: all after it is in doubt. */
export function brokenWords(c: GateChain | null): string {
  const bad = c?.breaks?.[0];
  return bad ? `The record is not as it was written. ${bad.day}: ${bad.text}` : "";
}

export const sentence = (r: GateRecord): string => `${decisionWord(r)}: ${verb(r)} ${objectWords(r)}`;
