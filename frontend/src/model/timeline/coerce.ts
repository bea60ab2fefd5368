// Checks the data of events. They come from stored rows of any version, and parts of them
// from agents. A value of the wrong shape is shown as text and does not break the page.
import type { Answer, AskQuestion, Attachment, FileChange, Question, ToolResult } from "../../api/types";

export function text(v: unknown): string {
  if (typeof v === "string") return v;
  if (v === null || v === undefined) return "";
  try {
    return JSON.stringify(v) ?? "";
  } catch {
    return String(v);
  }
}

function count(v: unknown): number {
  return typeof v === "number" && Number.isFinite(v) ? v : 0;
}

export function toolResult(r: ToolResult): ToolResult {
  const files: unknown[] = Array.isArray(r.files) ? r.files : [];
  const pictures = list(r.pictures).map(record).map((p): Attachment => ({ id: text(p.id), name: text(p.name), type: text(p.type), bytes: count(p.bytes), width: count(p.width), height: count(p.height) })).filter((p) => p.id !== "");
  return {
    tool_use_id: text(r.tool_use_id), parent_tool_use_id: text(r.parent_tool_use_id), output: text(r.output), is_error: r.is_error === true, truncated: r.truncated === true,
    files: files.filter((f): f is FileChange => typeof f === "object" && f !== null)
      .map((f) => ({ path: text(f.path), kind: text(f.kind), added: count(f.added), removed: count(f.removed), patch: text(f.patch), ...(text(f.alarm) && { alarm: text(f.alarm) }) })),
    ...(pictures.length > 0 ? { pictures } : {}),
  };
}

export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const record = (v: unknown): Record<string, unknown> => (typeof v === "object" && v !== null ? (v as Record<string, unknown>) : {});

export function question(data: unknown): Question {
  const q = record(data);
  const a = q.answer ? record(q.answer) : null;
  const answer: Answer | undefined = a
    ? { action: text(a.action) as Answer["action"], choices: list(a.choices).map((c) => list(c).map(text)), texts: list(a.texts).map(text), text: text(a.text) }
    : undefined;
  return {
    question_id: text(q.question_id), channel_id: text(q.channel_id), run_id: text(q.run_id), tool_use_id: text(q.tool_use_id), created_at: text(q.created_at),
    kind: q.kind === "exit_plan" ? "exit_plan" : "ask_user", state: q.state === "answered" || q.state === "cancelled" ? q.state : "open",
    plan: text(q.plan), planFilePath: text(q.planFilePath), read_only: q.read_only === true, questions: list(q.questions).map(askQuestion), ...(answer ? { answer } : {}),
  };
}

function askQuestion(v: unknown): AskQuestion {
  const q = record(v);
  return {
    question: text(q.question), header: text(q.header), multiSelect: q.multiSelect === true,
    options: list(q.options).map(record).map((o) => ({ label: text(o.label), description: text(o.description), preview: text(o.preview) })),
  };
}
