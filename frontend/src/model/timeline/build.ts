// Makes items of events. The fold is pure: the same events give the same rows, whether
// they came live or from the database after a reload.
import type { Activity, Attempt, Background, LoopEvent, MessageCreated, Notice, Question, Status, Thinking, ToolResult, ToolUse } from "../../api/types";
import { activity } from "./activity";
import { agentAnswered, agentCalled, agentsEnded } from "./agents";
import { saysWhatItChanges, withFiles } from "./changedfiles";
import { question as coerceQuestion, text, toolResult as coerceResult } from "./coerce";
import { decided } from "./decided";
import { held, heldBy } from "./held";
import { ownWords } from "../models";
import { notice } from "./notice";
import { rewound } from "./rewound";
import type { Built, EndItem, RunInfo, StartItem, ToolItem } from "./items";
import { drives, isTerminal } from "./items";
import { attempt, beginsNow, endRetry } from "./retries";
import { seen, took, touch } from "./running";
import { head, talked } from "./talks";

/** Applies stored events in order. Copies once per batch, never mutates its input. */
export function fold(built: Built, events: LoopEvent[]): Built {
  const b: Built = { items: built.items.slice(), runs: { ...built.runs }, live: built.live, settled: { ...built.settled } };
  for (const ev of events) step(b, ev);
  return b;
}

function step(b: Built, ev: LoopEvent) {
  const data = ev.data;
  if (typeof data !== "object" || data === null) return raw(b, ev);
  if (ev.type === "terminal.talk") return talked(b, ev, data);
  head(b, ev.run_id ?? "", ev.timestamp);
  switch (ev.type) {
    case "message.created":
      return message(b, ev, data as MessageCreated);
    case "agent.thinking":
      return thinking(b, ev, data as Thinking);
    case "tool.use":
      return toolUse(b, ev, data as ToolUse);
    case "tool.result":
      return toolResult(b, ev, data as ToolResult);
    case "agent.activity":
      return activity(b, ev, data as Activity);
    case "rewind.went":
    case "rewind.undone":
      return rewound(b, ev, data);
    case "gate.asked":
    case "gate.changed":
    case "gate.resolved":
      return held(b, ev, data);
    case "gate.decided":
      return decided(b, ev, data);
    case "agent.status":
      return status(b, ev, data as Status);
    case "run.notice":
      return notice(b, ev, data as Notice);
    case "run.attempt":
      return attempt(b, touch(b, ev.run_id ?? "", ev.timestamp), ev, data as Attempt);
    case "run.background":
      return background(b, ev, data as Background);
    case "agent.ask_user":
    case "agent.exit_plan":
    case "agent.ask_resolved":
    case "agent.plan_resolved":
      question(b, ev, coerceQuestion(data));
      return;
    case "agent.todos":
      todos(b, ev, data);
      return;
    case "message.updated": {
      const m = data as { msg_id?: unknown; content?: unknown };
      b.items = b.items.map((it) => (it.kind === "prompt" && it.runId === text(m.msg_id) ? { ...it, text: text(m.content) } : it));
      return;
    }
    case "message.deleted": {
      const m = data as { msg_id?: unknown };
      b.items = b.items.filter((it) => it.kind !== "prompt" || it.runId !== text(m.msg_id));
      return;
    }
    default:
      raw(b, ev); // an event of an unknown kind is shown as it came
  }
}

function raw(b: Built, ev: LoopEvent) {
  b.items.push({ kind: "raw", key: `e${ev.id}`, at: ev.timestamp, runId: ev.run_id ?? "", type: ev.type, data: ev.data });
}

function message(b: Built, ev: LoopEvent, m: MessageCreated) {
  const runId = ev.run_id ?? "";
  const at = ev.timestamp;
  const author = text(m.author_name);
  const content = text(m.content);
  if (!m.is_bot) {
    const run = touch(b, runId, at);
    Object.assign(run, { promptAt: at, lastAt: at, ownModel: text(m.model) !== "" });
    const pictures = Array.isArray(m.attachments) ? m.attachments : [];
    b.items.push({ kind: "prompt", key: `e${ev.id}`, at, runId, text: content, author, own: ownWords(text(m.model), text(m.effort)), ...(pictures.length > 0 ? { pictures, channelId: ev.channel_id } : {}) });
    return;
  }
  const key = settle(b, runId, text(m.msg_id), "text", content);
  const cut = m.cut === true;
  b.items.push({ kind: "text", key: key ?? `e${ev.id}`, at, runId, text: content, live: false, cut, took: took(b, runId, at, cut), author, uuid: text(m.uuid) });
}

function background(b: Built, ev: LoopEvent, d: Background) {
  const run = touch(b, ev.run_id ?? "", ev.timestamp);
  const before = run.tasks;
  run.waiting = d.waiting === true;
  run.tasks = (Array.isArray(d.tasks) ? d.tasks : []).map((t) => {
    const id = text(t?.task_id);
    return { id, kind: text(t?.kind), what: text(t?.what), since: before.find((x) => x.id === id)?.since ?? ev.timestamp };
  });
}

/** Puts an answer into the row of its question. If that row is not loaded, the answer gets its own row. */
function question(b: Built, ev: LoopEvent, q: Question) {
  const key = `q${q.question_id}`;
  const i = b.items.findLastIndex((it) => it.key === key);
  const old = b.items[i];
  if (old?.kind === "question") b.items[i] = { ...old, question: q };
  else b.items.push({ kind: "question", key, at: ev.timestamp, runId: ev.run_id ?? "", question: q });
}

function todos(b: Built, ev: LoopEvent, data: object) {
  const runId = ev.run_id ?? "";
  const list = (data as { todos?: unknown }).todos;
  const made = (Array.isArray(list) ? list : []).map((t: { content?: unknown; status?: unknown } | null) => ({ text: text(t?.content), state: text(t?.status) }));
  const i = b.items.findLastIndex((it) => it.kind === "todos" && it.runId === runId);
  const old = b.items[i];
  if (old?.kind === "todos") b.items[i] = { ...old, todos: made };
  else b.items.push({ kind: "todos", key: `t${runId}`, at: ev.timestamp, runId, todos: made });
}

function thinking(b: Built, ev: LoopEvent, t: Thinking) {
  const runId = ev.run_id ?? "";
  const said = text(t.text);
  const key = t.msg_id ? settle(b, runId, text(t.msg_id), "thinking", said) : null;
  b.items.push({ kind: "thinking", key: key ?? `e${ev.id}`, at: ev.timestamp, runId, text: said, live: false, cut: t.cut === true, took: took(b, runId, ev.timestamp, t.cut) });
}

/** Replaces the streamed block by its stored form. The key stays, so that the row on screen does. */
function settle(b: Built, runId: string, msgId: string, kind: string, content: string): string | null {
  if (!msgId) return null;
  const name = `${runId}/${msgId}/${kind}`;
  const n = b.settled[name] ?? 0;
  b.settled[name] = n + 1;
  const mine = b.live.filter((l) => l.runId === runId && l.msgId === msgId && l.kind === kind);
  const textOf = (key: string) => {
    const it = b.items.find((x) => x.key === key);
    return it?.kind === "text" || it?.kind === "thinking" ? it.text : "";
  };
  const hit = mine.find((l) => content.startsWith(textOf(l.key).trim())) ?? mine[0];
  if (!hit) return `${name}/${n}`;
  b.live = b.live.filter((l) => l !== hit);
  b.items = b.items.filter((it) => it.key !== hit.key);
  return hit.key;
}

function toolUse(b: Built, ev: LoopEvent, u: ToolUse) {
  const runId = ev.run_id ?? "";
  const parentId = text(u.parent_tool_use_id);
  if (parentId) seen(b, runId, ev.timestamp);
  else took(b, runId, ev.timestamp, u.cut);
  if (!saysWhatItChanges(text(u.tool_name))) touch(b, runId, ev.timestamp).commands = true;
  b.items.push({
    kind: "tool", key: `e${ev.id}`, at: ev.timestamp, runId, useId: text(u.tool_use_id), parentId,
    name: text(u.tool_name) || "tool", input: u.input, result: null, endedAt: 0, orphaned: false, cut: u.cut === true,
  });
  if (parentId) agentCalled(b, runId, parentId, text(u.tool_name), u.input);
  heldBy(b, text(u.tool_use_id), runId);
}

function toolResult(b: Built, ev: LoopEvent, came: ToolResult) {
  const r = coerceResult(came);
  const runId = ev.run_id ?? "";
  if (r.parent_tool_use_id) seen(b, runId, ev.timestamp);
  else took(b, runId, ev.timestamp);
  const run = touch(b, runId, ev.timestamp);
  if (r.files && r.files.length > 0) run.files = withFiles(run.files, r.tool_use_id, r.files);
  const i = b.items.findLastIndex((it) => it.kind === "tool" && it.useId === r.tool_use_id && it.runId === runId);
  const it = b.items[i];
  if (it?.kind === "tool") {
    b.items[i] = agentAnswered({ ...it, result: r, endedAt: ev.timestamp, orphaned: false, ...shown(r, ev) });
    return;
  }
  // The call is on an older page. Until that page is loaded, the result is shown alone.
  const alone: ToolItem = {
    kind: "tool", key: `e${ev.id}`, at: ev.timestamp, runId, useId: r.tool_use_id, parentId: r.parent_tool_use_id ?? "",
    name: "", input: null, result: r, endedAt: ev.timestamp, orphaned: false, cut: false, ...shown(r, ev),
  };
  b.items.push(alone);
}

/** Pictures are read by their channel. */
const shown = (r: ToolResult, ev: LoopEvent) => (r.pictures?.length ? { channelId: ev.channel_id ?? "" } : {});

function status(b: Built, ev: LoopEvent, s: Status) {
  const runId = ev.run_id ?? "";
  const at = ev.timestamp;
  const run = touch(b, runId, at);
  if (s.model) run.model = s.model;
  if (isTerminal(s.state)) {
    finish(b, run, at, s);
    return;
  }
  if (s.state === "queued") return;
  if (run.endedAt) run.endedAt = 0; // Loop found the run again after it had counted it as lost
  if (s.state === "running") run.runningAt ||= at;
  beginsNow(b, run, at);
  const fresh = !run.startedAt && !run.seenAt;
  if (fresh) {
    run.startedAt = at;
    run.lastAt = at;
    promptToEnd(b, runId);
  }
  const i = fresh ? -1 : b.items.findLastIndex((it) => it.kind === "start" && it.runId === runId);
  const it = b.items[i];
  if (it?.kind === "start") {
    const steps = s.step && it.steps.at(-1)?.step !== s.step ? [...it.steps, { step: s.step, at }] : it.steps;
    b.items[i] = { ...it, steps };
    return;
  }
  if (!s.step) return;
  const start: StartItem = { kind: "start", key: `s${runId}`, at, runId, steps: [{ step: s.step, at }], readyAt: 0, failed: false };
  b.items.push(start);
}

/** Moves a prompt that waited in the queue to the beginning of its run. */
function promptToEnd(b: Built, runId: string) {
  const i = b.items.findLastIndex((it) => it.kind === "prompt" && it.runId === runId);
  if (i < 0 || i === b.items.length - 1) return;
  const [it] = b.items.splice(i, 1);
  if (it) b.items.push(it);
}

function finish(b: Built, run: RunInfo, at: number, s: Status) {
  const key = `d${run.runId}`;
  if (run.endedAt) b.items = b.items.filter((it) => it.key !== key); // of two ends the later one counts
  endRetry(b, run, at, s.state === "done" ? "answered" : s.state === "cancelled" ? "stopped" : "failed");
  agentsEnded(b, run.runId);
  run.endedAt = at;
  run.activity = "";
  run.tasks = [];
  const gone = new Set(b.live.filter((l) => l.runId === run.runId).map((l) => l.key));
  if (gone.size > 0) b.live = b.live.filter((l) => l.runId !== run.runId);
  // The search ends at the run's prompt, because runs of a channel follow one another.
  for (let i = b.items.length - 1; i >= 0; i--) {
    const it = b.items[i];
    if (!it || it.runId !== run.runId) continue;
    if (it.kind === "prompt") break;
    if (gone.has(it.key) && (it.kind === "text" || it.kind === "thinking")) b.items[i] = { ...it, live: false };
    else if (it.kind === "tool" && !it.result) b.items[i] = { ...it, orphaned: true };
    else if (it.kind === "notice" && drives(it)) b.items[i] = { ...it, until: at };
    else if (it.kind === "start" && !it.readyAt) b.items[i] = { ...it, readyAt: run.runningAt || at, failed: s.state !== "done" && !run.runningAt };
  }
  const end: EndItem = {
    kind: "end", key, at, runId: run.runId, status: s, startedAt: run.startedAt || run.promptAt,
    failure: s.failure?.cause ? s.failure : s.error ? { code: "internal", cause: text(s.error) } : null,
  };
  b.items.push(end);
}
