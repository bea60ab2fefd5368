// A rule of the gate while a person writes it. Whether it is a rule at all, and what it would
// match, is for Loop to say.
import type { ApprovalScope, GateCandidate, GateRule, GateRuleClass, GateRuleEdit, GateRuleList, GateRuleMatches, GateSuggestion } from "../api/types";
import { plural } from "./format";
import { editOf } from "./gate-rules";

export const CLASSES = [["file_rules", "File"], ["command_rules", "Command"], ["path_rules", "Socket"], ["site_rules", "Site"]] as const;
export const DECISIONS = [["allow", "Allow"], ["approve", "Ask"], ["deny", "Deny"]] as const;
export const SCOPES = [["project", "This project"], ["always", "Everywhere"]] as const;
export const OPERATIONS = ["read", "write", "create", "delete", "chmod", "chown", "link"] as const;

export type RuleDraft = {
  change: GateRule | null; // the rule that is changed; null is a new one
  class: GateRuleClass;
  scope: ApprovalScope;
  decision: string;
  operations: readonly string[]; // of a file
  patterns: string; // one on each line
  args: string; // of a command, one on each line
  message: string;
  rest: Record<string, unknown>; // what the editor does not show of the rule
};

export const NEW_RULE: RuleDraft = {
  change: null, class: "file_rules", scope: "project", decision: "approve", operations: ["write", "create", "delete"], patterns: "", args: "", message: "", rest: {},
};

const lines = (text: string): string[] => text.split(/\r?\n/).map((l) => l.trim()).filter(Boolean);
const texts = (v: unknown): string[] => (Array.isArray(v) ? v.filter((x): x is string => typeof x === "string") : []);
const text = (v: unknown): string => (typeof v === "string" ? v : "");

/** The draft of a rule that Loop has written as JSON. */
export function draftOf(rule: string, cls: GateRuleClass, scope: ApprovalScope, change: GateRule | null): RuleDraft {
  const { paths, pattern, commands, sites, args_patterns, operations, decision, message, ...rest } = JSON.parse(rule) as Record<string, unknown>;
  const patterns = cls === "path_rules" ? text(pattern) : texts(cls === "command_rules" ? commands : cls === "site_rules" ? sites : paths).join("\n");
  const ops = texts(operations);
  return {
    change, class: cls, scope, decision: text(decision), operations: ops.length > 0 ? ops : OPERATIONS,
    patterns, args: texts(args_patterns).join("\n"), message: text(message), rest,
  };
}

/** The host of an address, or of one without its scheme; "" is none. */
export function hostOf(address: string): string {
  const m = /^(?:https?:\/\/)?(?:[^/?#]*@)?(\[[^\]/]+\]|[^/?#:@]+)(?::\d*)?(?:[/?#].*)?$/i.exec(address);
  return (m?.[1] ?? "").replace(/\.$/, "").toLowerCase();
}

/** A site as rules name it. What has no host stays, and Loop says what is wrong with it. */
function siteOf(typed: string): string {
  const below = typed.startsWith("*.");
  const host = typed === "*" ? "" : hostOf(below ? typed.slice(2) : typed);
  return host ? `${below ? "*." : ""}${host}` : typed;
}

/** The rule as JSON. */
export function ruleOf(d: RuleDraft): string {
  const { id, ...rest } = d.rest;
  const all = OPERATIONS.every((op) => d.operations.includes(op));
  const patterns = lines(d.patterns), args = lines(d.args);
  const what = {
    file_rules: { paths: patterns, operations: all ? undefined : d.operations },
    command_rules: { commands: patterns.length > 0 ? patterns : undefined, args_patterns: args.length > 0 ? args : undefined },
    path_rules: { pattern: d.patterns.trim() },
    site_rules: { sites: patterns.map(siteOf) },
    default: {},
  }[d.class];
  return JSON.stringify({ id, ...what, decision: d.decision, message: d.message.trim() || undefined, ...rest });
}

/** What has to be written before there is a rule, or "". Without a pattern a rule would match everything. */
export function missingOf(d: RuleDraft): string {
  const named = lines(d.patterns).length > 0;
  if (d.class === "command_rules") return named || lines(d.args).length > 0 ? "" : "Name a program, for example git.";
  if (!named && d.class === "site_rules") return "Name a site, for example example.com. * is all of them.";
  if (!named) return d.class === "path_rules" ? "Write the path of a socket, or @ and the name of an abstract one." : "Write which files it is about. /** is all of them.";
  return d.class === "file_rules" && d.operations.length === 0 ? "Choose an operation." : "";
}

export const candidateOf = (d: RuleDraft): GateCandidate => ({ class: d.class, rule: ruleOf(d), scope: d.scope, index: d.change?.index ?? 0, replaces: d.change !== null });

/** The change that saves the draft. A new rule comes before the others of its list. */
export function savingOf(list: GateRuleList, d: RuleDraft): GateRuleEdit {
  if (d.change) return editOf(list, d.change, { action: "change", rule: ruleOf(d) });
  return { channel_id: list.channel_id, action: "add", scope: d.scope, class: d.class, index: 0, rule: ruleOf(d) };
}

/** The row that a saved draft has become. */
export function savedOf(list: GateRuleList, d: RuleDraft): GateRule | undefined {
  const index = d.change?.index ?? 0, origin = d.change?.origin ?? (d.scope === "always" ? "yours" : "remembered");
  return list.rules?.find((r) => r.origin === origin && r.class === d.class && r.index === index);
}

const named = (list: GateRuleList, id: string): string => {
  const r = list.rules?.find((x) => x.id === id);
  return r ? `${r.number} (${r.text.replace(/\.$/, "")})` : id;
};

/** Which rules leave each other nothing, in sentences. */
export function shadowWords(list: GateRuleList, m: GateRuleMatches): string[] {
  const out: string[] = [];
  if (m.shadowed_by) out.push(`Rule ${named(list, m.shadowed_by)} comes before it and matches all that it does, so it would never count.`);
  for (const id of m.shadows ?? []) out.push(`It leaves nothing for rule ${named(list, id)}.`);
  return out;
}

/** “Would have matched 12 of the last 500 decisions; 2 of them were denied.” */
export function matchWords(m: GateRuleMatches): string {
  if (m.of === 0) return "Nothing was decided here yet that it could be tried on.";
  if (m.total === 0) return `Would have matched none of the last ${plural(m.of, "decision")}.`;
  return `Would have matched ${m.total.toLocaleString("en")} of the last ${plural(m.of, "decision")}${m.denied > 0 ? `; ${m.denied.toLocaleString("en")} of them ${m.denied === 1 ? "was" : "were"} denied` : ""}.`;
}

/** Why a rule is suggested. */
export function suggestionWords(s: GateSuggestion): string {
  const runs = s.runs > 0 ? `, in ${plural(s.runs, "run")}` : "";
  return s.from === "shadow" ? `${plural(s.asked, "call")} would have been asked about${runs}.` : `You allowed ${plural(s.asked, "question")} like this by hand${runs}.`;
}
