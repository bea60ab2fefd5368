// The rules of the gate as their panel shows them: rows in the order in which they are tried,
// below the files that they stand in.
import type { Channel, GateCall, GateRule, GateRuleEdit, GateRuleFile, GateRuleList, GateRuleOrigin, GateStatus, GateTry } from "../api/types";
import { plural } from "./format";

/** The kind of the panel. */
export const RULES_PANEL = "rules";

export const MODES = [["record", "Record"], ["shadow", "Shadow"], ["enforce", "Enforce"]] as const;
export const MODE_WORDS: Record<string, string> = {
  record: "Only what is never remembered is asked or denied here; the rest is written down.",
  shadow: "Only what is never remembered is asked or denied here. What these rules would ask or deny is written down.",
};

export type RuleShow = "all" | "shadowed" | "stale" | "off";
export type RuleFilter = { show: RuleShow; text: string };
export const NO_RULE_FILTER: RuleFilter = { show: "all", text: "" };

export type RuleGroup = { key: string; title: string; note: string; fixed: boolean; path: string; files: GateRuleFile[]; rules: GateRule[] };

const HEADS: Record<GateRuleOrigin, { title: string; note: string; fixed: boolean }> = {
  first: { title: "Built in", note: "always first", fixed: true },
  project: { title: "Project", note: "may only tighten", fixed: false },
  remembered: { title: "Remembered", note: "of this project", fixed: false },
  yours: { title: "Yours", note: "all projects", fixed: false },
  built_in: { title: "Built in", note: "after yours", fixed: true },
  default: { title: "Default", note: "always last", fixed: false },
};
const ORDER: GateRuleOrigin[] = ["first", "project", "remembered", "yours", "built_in", "default"];

export const keyOfRule = (r: GateRule): string => `${r.number}`;

function fits(r: GateRule, f: RuleFilter): boolean {
  if (f.show === "shadowed" && !r.shadowed_by) return false;
  if (f.show === "stale" && !r.stale) return false;
  if (f.show === "off" && !r.off) return false;
  const text = f.text.trim().toLowerCase();
  return !text || [r.id, r.text, r.path, ...(r.patterns ?? []), ...(r.args ?? [])].some((s) => s?.toLowerCase().includes(text));
}

/** The rows below their files. A file without rows stays where something is to be said of it. */
export function ruleGroups(list: GateRuleList, f: RuleFilter): RuleGroup[] {
  const files = list.files ?? [], rules = list.rules ?? [];
  return ORDER.flatMap((origin): RuleGroup[] => {
    const own = files.filter((x) => x.origin === origin);
    const paths = origin === "project" ? [...new Set([...own.map((x) => x.path), ...rules.filter((r) => r.origin === origin).map((r) => r.path ?? "")])] : [""];
    return paths.flatMap((path) => {
      const here = origin === "project" ? own.filter((x) => x.path === path) : own;
      const shown = rules.filter((r) => r.origin === origin && (path === "" || (r.path ?? "") === path) && fits(r, f));
      const said = here.some((x) => (x.waiting ?? []).length > 0);
      if (shown.length === 0 && !said) return [];
      return [{ key: `${origin} ${path}`, ...HEADS[origin], path: path || here[0]?.path || shown[0]?.path || "", files: here, rules: shown }];
    });
  });
}

export const countShown = (list: GateRuleList, show: RuleShow): number => (list.rules ?? []).filter((r) => fits(r, { show, text: "" })).length;

/** A project's file with settings that wait for the person. */
export const waits = (g: RuleGroup): GateRuleFile | undefined => g.files.find((f) => (f.waiting ?? []).length > 0);

/** What is wrong with a file, or null. A warning alone is not. */
export function problemOf(f: GateRuleFile): { line: string; remedy: string } | null {
  const p = (f.problems ?? []).find((x) => !x.warning);
  if (!p && !f.stopped) return null;
  const where = p && p.line > 0 ? `${f.path}, line ${p.line}: ` : `${f.path}: `;
  const held = f.stopped ? "Nothing starts in this channel until it is corrected." : f.last_good ? "Its last good version holds." : "";
  return { line: `${where}${p?.message ?? f.stopped ?? ""}`, remedy: [p?.remedy, held].filter(Boolean).join(" ") };
}

const WORDS: Record<string, string> = { allow: "Allow", deny: "Deny", approve: "Ask" };
export const ruleWord = (decision: string): string => WORDS[decision] ?? decision;
export const ruleTone = (decision: string): "yes" | "no" | "ask" => (decision === "allow" ? "yes" : decision === "deny" ? "no" : "ask");

const FILE_CALLS = 7;
export function callWords(r: GateRule): string {
  const calls = r.calls ?? [];
  return r.class === "default" || calls.length >= FILE_CALLS ? "all" : calls.join(", ");
}

export function patternWords(r: GateRule): string {
  if (r.class === "default") return "everything else";
  const patterns = (r.patterns ?? []).join(", ");
  return r.args?.length ? `${patterns} ${r.args.join(", ")}` : patterns;
}

/** Where a shadowed rule has to go to count: before the one that shadows it, if both stand in one list. null: it cannot. */
export function moveOf(list: GateRuleList, r: GateRule): number | null {
  const by = (list.rules ?? []).find((x) => x.number === r.shadowed_by);
  return by && r.editable && by.editable && by.origin === r.origin && by.class === r.class && by.index < r.index ? by.index : null;
}

/** A step up or down in its list, as a new index; null at the end of the list. */
export function stepOf(list: GateRuleList, r: GateRule, by: 1 | -1): number | null {
  if (!r.editable) return null;
  const to = r.index + by;
  return (list.rules ?? []).some((x) => x.origin === r.origin && x.class === r.class && x.index === to && x.editable) ? to : null;
}

export function editOf(list: GateRuleList, r: GateRule, more: Pick<GateRuleEdit, "action"> & Partial<GateRuleEdit>): GateRuleEdit {
  return { channel_id: list.channel_id, scope: r.scope ?? "always", class: r.class, index: r.index, was: r.rule ?? "", ...more };
}

/** What stands under a row that is off, shadowed or stale. "" is nothing. */
export function remedyWords(r: GateRule): string {
  if (r.off) return "This rule is off: it counts for nothing.";
  if (r.shadowed_by) return `Rule ${r.shadowed_by} matches everything this rule does, and stands before it.`;
  return r.stale ? "This rule had no hit in 90 days." : "";
}

/** What the test field can be asked. */
export const TRIES = ["write", "read", "create", "delete", "chmod", "chown", "link", "run", "connect", "open a site"] as const;
export type TryKind = (typeof TRIES)[number];

/** The call that was typed, or null where there is none yet. A relative path is one of the project. */
export function callOf(kind: TryKind, typed: string): GateCall | null {
  const text = typed.trim();
  if (!text) return null;
  if (kind === "run") return { line: text };
  if (kind === "connect") return { connect: text };
  if (kind === "open a site") return { site: text };
  const path = /^(\/|~\/|~$|<project>)/.test(text) ? text : `<project>/${text.replace(/^\.\//, "")}`;
  return { operation: kind, path };
}

/** A call that a rule may match, for the test field. null: of everything else there is none. */
export function sampleOf(r: GateRule): { kind: TryKind; text: string } | null {
  const pattern = (r.patterns ?? [])[0];
  if (!pattern || r.class === "default") return null;
  const text = pattern.replace(/\{([^,{}]*)[^{}]*\}/g, "$1").replace(/\*+/g, "x");
  if (r.class === "command_rules") return { kind: "run", text };
  if (r.class === "path_rules") return { kind: "connect", text };
  if (r.class === "site_rules") return { kind: "open a site", text: pattern.replace(/^\*$/, "example.com").replace(/^\*\./, "www.") };
  return { kind: TRIES.find((k) => r.calls?.includes(k)) ?? "write", text };
}

/** Would this be asked? The answer in words, as the channel's mode has it. */
export function answerOf(t: GateTry): { tone: "yes" | "no" | "ask"; text: string } {
  const tone = ruleTone(t.now);
  const text = { yes: "No: allowed without a question", no: "No: denied without a question", ask: "Yes: you are asked" }[tone];
  if (t.now === t.decision) return { tone, text };
  return { tone, text: `${text}. Enforced, it would be ${{ yes: "allowed", no: "denied", ask: "asked" }[ruleTone(t.decision)]}` };
}

export const stepNumbers = (s: { from: number; to: number }): string => (s.from === s.to ? `${s.from}` : `${s.from}–${s.to}`);

/** “18 rules, tried on 500 recent decisions” */
export function rulesSummary(list: GateRuleList): string {
  return `${plural((list.rules ?? []).length, "rule")} · tried on ${plural(list.recent, "recent decision")}`;
}

/** The mode of a channel's folder where it differs from the settings, or "". */
export function modeOfChannel(g: GateStatus | null, c: Pick<Channel, "dir" | "parent_dir"> | undefined): string {
  for (const dir of [c?.dir, c?.parent_dir]) {
    const mode = dir ? g?.modes?.[dir] : "";
    if (mode) return mode;
  }
  return "";
}

const OWN_MODES: Record<string, string> = { record: "Gate only records here", shadow: "Gate only watches here", enforce: "Gate holds here" };

/** The status as it is for a channel: a folder with a mode of its own counts where the gate holds at all. */
export function statusOf(g: GateStatus | null, c: Pick<Channel, "dir" | "parent_dir"> | undefined): GateStatus | null {
  const mode = modeOfChannel(g, c), text = OWN_MODES[mode];
  if (!g || !text || !["on", "record", "shadow"].includes(g.state)) return g;
  return { ...g, state: mode === "enforce" ? "on" : mode, text };
}
