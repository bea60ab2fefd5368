// Tool calls in one line each: icon, verb, object, mark of the result.
import type { Attachment, KeptFrame, ToolResult } from "../../api/types";
import { byteSize } from "../byteSize";
import { oneLine, relativeTo, stripColour } from "../text";
import { plural } from "../format";
import { agentWords, agentWorks, isAgentCall } from "./agents";
import type { BrowserIcon } from "./browsertools";
import { browserResult, browserWords, isBrowserTool } from "./browsertools";
import type { ToolItem } from "./items";

export type ToolIcon = BrowserIcon | "run" | "read" | "image" | "edit" | "create" | "search" | "files" | "web" | "task" | "plan" | "mcp" | "tool" | "ask";
export type Mark = { text: string; tone: "plain" | "ok" | "fail" | "busy" };
export type ToolView = { icon: ToolIcon; verb: string; object: string; note: string; mark: Mark; added: number; removed: number };

type Input = Record<string, unknown>;

/** frame: the picture of a call of the browser's tools. */
export function describeTool(item: ToolItem, dir: string, frame?: KeptFrame): ToolView {
  const input: Input = typeof item.input === "object" && item.input !== null && !Array.isArray(item.input) ? (item.input as Input) : {};
  if (isBrowserTool(item.name)) {
    const m = mark(item, "tool", false);
    const said = item.result && !item.cut ? { ...m, text: browserResult(item.name, item.result, frame) } : m;
    return { ...browserWords(item.name, input, item.result, frame), added: 0, removed: 0, mark: said };
  }
  if (isAgentCall(item.name) || item.agent) return describeAgent(item, input, dir);
  const v = base(item.name, input, dir);
  const pictures = item.result?.pictures ?? [];
  if (v.icon === "read" && pictures[0]) Object.assign(v, { icon: "image", note: pictureSize(pictures[0]) });
  const files = item.result?.files ?? [];
  const added = files.reduce((n, f) => n + (f.added || 0), 0);
  const removed = files.reduce((n, f) => n + (f.removed || 0), 0);
  if (v.icon === "edit" && files[0]?.kind === "create") Object.assign(v, { verb: "Create", icon: "create" });
  return { ...v, added, removed, mark: mark(item, v.icon, added + removed > 0) };
}

const CHORE = "ToolSearch";

/** A call that only prepares others: the CLI looks up how its own tools are called. */
export const isChore = (it: ToolItem): boolean => it.name === CHORE && !it.cut && !it.orphaned && it.result?.is_error !== true;

/** The tools that are looked up, by their own names. */
function wanted(query: string): string {
  const names = /^select:(.*)$/.exec(query)?.[1];
  return names === undefined ? oneLine(query) : names.split(",").map((n) => n.trim().replace(/^mcp__.+?__/, "")).filter(Boolean).join(", ");
}

function base(name: string, input: Input, dir: string): Omit<ToolView, "mark" | "added" | "removed"> {
  const s = (k: string) => (typeof input[k] === "string" ? (input[k] as string) : "");
  const path = relativeTo(s("file_path") || s("notebook_path") || s("path"), dir);
  switch (name) {
    case "Bash":
      return { icon: "run", verb: "Run", object: oneLine(s("command")), note: s("description") };
    case "BashOutput":
      return { icon: "run", verb: "Look at output", object: s("bash_id"), note: "" };
    case "KillShell":
    case "KillBash":
      return { icon: "run", verb: "Stop", object: s("shell_id"), note: "" };
    case "Read":
      return { icon: "read", verb: "Read", object: path, note: range(input) };
    case "Write":
      return { icon: "create", verb: "Write", object: path, note: "" };
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return { icon: "edit", verb: "Edit", object: path, note: "" };
    case "Grep":
      return { icon: "search", verb: "Search", object: s("pattern"), note: path || s("glob") };
    case "Glob":
      return { icon: "files", verb: "Find files", object: s("pattern"), note: path };
    case "LS":
      return { icon: "files", verb: "List", object: path || ".", note: "" };
    case "WebFetch":
      return { icon: "web", verb: "Fetch", object: s("url"), note: "" };
    case "WebSearch":
      return { icon: "web", verb: "Search the web", object: s("query"), note: "" };
    case "TodoWrite":
      return { icon: "plan", verb: "Plan", object: plan(input), note: "" };
    case "ExitPlanMode":
      return { icon: "plan", verb: "Propose a plan", object: oneLine(s("plan")), note: "" };
    case "AskUserQuestion":
      return { icon: "ask", verb: "Ask", object: oneLine(s("question")), note: "" };
    case CHORE:
      return { icon: "search", verb: "Looks up tools", object: wanted(s("query")), note: "" };
    case "":
      return { icon: "tool", verb: "Result", object: "of an earlier call", note: "" };
  }
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
  if (mcp) return { icon: "mcp", verb: "Call", object: `${mcp[1]} · ${mcp[2]}`, note: short(input) };
  return { icon: "tool", verb: "Use", object: name, note: short(input) };
}

/** A sub-agent's call: its task, and what it does now or who it is. */
function describeAgent(item: ToolItem, input: Input, dir: string): ToolView {
  const a = item.agent;
  const s = (k: string) => (typeof input[k] === "string" ? (input[k] as string) : "");
  const object = oneLine(s("description") || s("prompt")) || (isAgentCall(item.name) ? "" : item.name);
  const words = a ? agentWords({ ...a, kind: a.kind || s("subagent_type") }) : { who: "", sums: "" };
  const view = { icon: "task" as const, verb: "Agent", object, note: words.who || s("subagent_type"), added: 0, removed: 0 };
  if (!agentWorks(item) && (item.result || item.orphaned || item.cut)) {
    const failed = a?.state === "failed" || a?.state === "stopped" ? a.state : "";
    if (item.orphaned) return { ...view, mark: { text: "no result", tone: "fail" } };
    const m = mark(item, "task", false);
    return { ...view, mark: m.tone === "ok" && failed ? { text: failed, tone: "fail" } : m.tone === "ok" ? { text: words.sums, tone: "ok" } : m };
  }
  const last = a?.last ? base(a.last.name, (a.last.input ?? {}) as Input, dir) : null;
  const doing = a?.doing || (last ? `${last.verb} ${last.object}` : "");
  return { ...view, note: doing || view.note, mark: { text: words.sums || "working", tone: "busy" } };
}

/** The pixels and bytes of a picture. */
export const pictureSize = (p: Attachment): string => `${p.width.toLocaleString("en")} × ${p.height.toLocaleString("en")}, ${byteSize(p.bytes)}`;

/** Whether a picture costs so much to draw that the person is asked. */
export const isHuge = (p: Attachment): boolean => p.bytes > 1_500_000 || p.width * p.height > 8_000_000;

/** An output without the marks of pictures that are shown. */
export const withoutPictures = (r: ToolResult): string => (r.pictures?.length ? r.output.replace(/^\[image\]\n?/gm, "") : r.output).trimEnd();

function range(input: Input): string {
  const { offset, limit } = input;
  if (typeof offset !== "number") return "";
  return typeof limit === "number" ? `lines ${offset}–${offset + limit - 1}` : `from line ${offset}`;
}

function plan(input: Input): string {
  const todos = Array.isArray(input.todos) ? (input.todos as { status?: string; content?: string }[]) : [];
  const done = todos.filter((t) => t?.status === "completed").length;
  const now = todos.find((t) => t?.status === "in_progress")?.content;
  return `${done} of ${todos.length} done${now ? ` · ${oneLine(now)}` : ""}`;
}

function short(input: Input): string {
  for (const v of Object.values(input)) if (typeof v === "string" && v) return oneLine(v);
  return "";
}

function mark(item: ToolItem, icon: ToolIcon, changed: boolean): Mark {
  const r = item.result;
  if (item.cut) return { text: "cut off here", tone: "fail" };
  if (!r) return item.orphaned ? { text: "no result", tone: "fail" } : { text: "working", tone: "busy" };
  if (r.is_error) return { text: errorWord(r), tone: "fail" };
  if (changed || item.name === CHORE || r.pictures?.length) return { text: "", tone: "ok" };
  const lines = countLines(r.output);
  if (icon === "read" && lines) return { text: plural(lines, "line"), tone: "ok" };
  if (icon === "search") return { text: matches(r.output, lines), tone: "ok" };
  if (icon === "files" && lines) return { text: /^No files found/i.test(r.output) ? "none" : plural(lines, "entry", "entries"), tone: "ok" };
  if (icon === "run" && lines > 1) return { text: plural(lines, "line"), tone: "ok" };
  return { text: "", tone: "ok" };
}

function errorWord(r: ToolResult): string {
  const code = /^(?:Error: )?Exit code (\d+)/i.exec(stripColour(r.output).trimStart());
  return code ? `exit ${code[1]}` : "failed";
}

function matches(output: string, lines: number): string {
  if (/^No (?:matches|files) found/i.test(output.trim())) return "no match";
  const found = /^Found (\d+)/i.exec(output);
  return found ? plural(Number(found[1]), "match", "matches") : plural(lines, "match", "matches");
}

export function countLines(text: string): number {
  if (!text) return 0;
  let n = text.endsWith("\n") ? 0 : 1;
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) n++;
  return n;
}
