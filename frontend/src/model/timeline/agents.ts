// Sub-agents: what is known of one stands in the row of its call, and its own rows hang below.
import type { Activity, LoopEvent } from "../../api/types";
import { plural, modelName, tokens } from "../format";
import { text } from "./coerce";
import type { AgentInfo, Built, Item, ToolItem } from "./items";

const NEW: AgentInfo = { kind: "", model: "", calls: 0, counted: 0, tokens: 0, ms: 0, state: "", endedAt: 0, doing: "", last: null, report: "", said: "" };

export const isAgentCall = (name: string): boolean => name === "Agent" || name === "Task";

const count = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? Math.floor(v) : 0);

function callAt(b: Built, runId: string, useId: string): number {
  return useId ? b.items.findLastIndex((it) => it.kind === "tool" && it.useId === useId && it.runId === runId) : -1;
}

function change(b: Built, i: number, by: Partial<AgentInfo>): boolean {
  const it = b.items[i];
  if (it?.kind !== "tool") return false;
  b.items[i] = { ...it, agent: { ...NEW, ...it.agent, ...by } };
  return true;
}

const agentOf = (it: Item | undefined): AgentInfo => (it?.kind === "tool" && it.agent) || NEW;

/** A sub-agent has called a tool. */
export function agentCalled(b: Built, runId: string, parentId: string, name: string, input: unknown) {
  const i = callAt(b, runId, parentId);
  change(b, i, { counted: agentOf(b.items[i]).counted + 1, last: { name, input }, doing: "" });
}

const STATES: Record<string, AgentInfo["state"]> = { running: "running", completed: "done", failed: "failed", stopped: "stopped", killed: "stopped" };

/** Something is said of a sub-agent. Where its call is on an older page, only its words are shown. */
export function agentSaid(b: Built, ev: LoopEvent, a: Activity) {
  const runId = ev.run_id ?? "";
  const parentId = text(a.parent_tool_use_id);
  const name = text(a.activity);
  const said = text(a.description);
  const i = callAt(b, runId, parentId);
  const before = agentOf(b.items[i]);
  const by: Partial<AgentInfo> = {};
  if (a.model) by.model = text(a.model);
  if (a.agent) {
    if (a.agent.kind) by.kind = text(a.agent.kind);
    by.calls = Math.max(before.calls, count(a.agent.calls));
    by.tokens = Math.max(before.tokens, count(a.agent.tokens));
    by.ms = Math.max(before.ms, count(a.agent.duration_ms));
    const state = STATES[text(a.agent.state)];
    if (state) by.state = state;
    if (state && state !== "running") Object.assign(by, { endedAt: ev.timestamp, doing: "" });
  }
  const words = name === "task_message" || name === "task_error";
  if (name === "task_progress") by.doing = said;
  else if (name === "api_retry") by.doing = a.retry ? text(a.retry.why).replace(/\.$/, "") : said;
  else if (words) by.said = said;
  else if (name === "task_notification" && by.state === "done") by.report = said === description(b.items[i]) ? "" : said; // older CLIs repeat the task
  else if (name === "task_notification") by.report = said;
  change(b, i, by);
  if (words && ev.id) b.items.push({ kind: "activity", key: `e${ev.id}`, at: ev.timestamp, runId, name, text: said, parentId });
}

function description(it: Item | undefined): string {
  const input = it?.kind === "tool" && typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
  return text(input.description);
}

/** The answer to a call of a sub-agent: its report, or that it goes on in the background. */
export function agentAnswered(it: ToolItem): ToolItem {
  if ((!isAgentCall(it.name) && !it.agent) || !it.result) return it;
  const before = it.agent ?? NEW;
  if (it.result.is_error) return { ...it, agent: { ...before, state: "failed", report: it.result.output, endedAt: it.endedAt } };
  if (LAUNCHED.test(it.result.output)) return { ...it, agent: { ...before, state: before.state || "running" } };
  return { ...it, agent: { ...before, state: "done", endedAt: before.endedAt || it.endedAt, report: reportOf(it.result.output) || before.report } };
}

/** The run is over, and with it what its sub-agents did. */
export function agentsEnded(b: Built, runId: string) {
  for (let i = b.items.length - 1; i >= 0; i--) {
    const it = b.items[i];
    if (!it || it.runId !== runId) continue;
    if (it.kind === "prompt") break;
    if (it.kind === "tool" && it.agent?.state === "running") b.items[i] = { ...it, orphaned: true, agent: { ...it.agent, state: "", doing: "" } };
  }
}

// The CLI wraps what a sub-agent reports in words for the model.
const LAUNCHED = /^\s*Async agent launched/;
const HANDED_BACK = /\[Subagent hand-back\][^\n]*The report follows:\n/;
const TRAILER = /\n?agentId: \S+ \([^\n]*\)(?:\n<usage>[\s\S]*?<\/usage>)?\s*$/;

/** What a sub-agent reported, without the CLI's words for the model around it. */
export function reportOf(output: string): string {
  if (LAUNCHED.test(output)) return "";
  const from = HANDED_BACK.exec(output);
  const own = from ? output.slice(from.index + from[0].length).replace(/^ {2}/gm, "") : output;
  return own.replace(TRAILER, "").trim();
}

/** The prompt of a sub-agent's call. */
export function askedOf(it: ToolItem): string {
  const input = typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
  return text(input.prompt);
}

/** What its row says of a sub-agent besides its task. */
export function agentWords(a: AgentInfo): { who: string; sums: string } {
  const calls = Math.max(a.calls, a.counted);
  return {
    who: [a.kind, a.model ? modelName(a.model) : ""].filter(Boolean).join(", "),
    sums: [calls ? plural(calls, "call") : "", a.tokens ? `${tokens(a.tokens)} tokens` : ""].filter(Boolean).join(", "),
  };
}

/** Whether a sub-agent works now. */
export const agentWorks = (it: ToolItem): boolean => !it.orphaned && (it.agent?.state === "running" || (it.agent !== undefined && it.result === null));
