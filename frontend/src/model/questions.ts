// Open questions and plans that agents wait for, of all channels.
import type { Answer, ChannelID, LoopEvent, Question } from "../api/types";

export const ASKED = new Set(["agent.ask_user", "agent.exit_plan"]);
export const RESOLVED = new Set(["agent.ask_resolved", "agent.plan_resolved"]);

/** Applies a batch of events to the open questions. It is safe to apply a batch twice. */
export function applyQuestions(open: Question[], batch: LoopEvent[]): Question[] {
  let next = open;
  for (const ev of batch) {
    if (ev.type === "channel.deleted") {
      if (next.some((q) => q.channel_id === ev.channel_id)) next = next.filter((q) => q.channel_id !== ev.channel_id);
      continue;
    }
    const q = ev.data as Question | undefined;
    if (!q?.question_id) continue;
    if (ASKED.has(ev.type) && q.state === "open" && !next.some((x) => x.question_id === q.question_id)) next = [...next, q];
    if (RESOLVED.has(ev.type) && next.some((x) => x.question_id === q.question_id)) next = next.filter((x) => x.question_id !== q.question_id);
  }
  return next;
}

export function questionOf(open: Question[], channel: ChannelID): Question | undefined {
  return open.find((q) => q.channel_id === channel);
}

/** The person's answer so far: chosen labels and own words for each question. */
export type Draft = { choices: string[][]; texts: string[] };

export function emptyDraft(q: Question): Draft {
  const n = q.questions?.length ?? 0;
  return { choices: Array.from({ length: n }, () => []), texts: Array.from({ length: n }, () => "") };
}

export function toggle(d: Draft, i: number, label: string, many: boolean): Draft {
  const had = d.choices[i] ?? [];
  const now = had.includes(label) ? had.filter((x) => x !== label) : many ? [...had, label] : [label];
  return { ...d, choices: d.choices.map((c, j) => (j === i ? now : c)) };
}

export function write(d: Draft, i: number, text: string): Draft {
  return { ...d, texts: d.texts.map((t, j) => (j === i ? text : t)) };
}

/** The questions, by their places, that have neither a choice nor the person's own words. */
export function missing(q: Question, d: Draft): number[] {
  return (q.questions ?? []).flatMap((_, i) => ((d.choices[i]?.length ?? 0) > 0 || (d.texts[i] ?? "").trim() !== "" ? [] : [i]));
}

export const complete = (q: Question, d: Draft): boolean => missing(q, d).length === 0;

const SHOWN_MISSING = 3;

/** What an answer still lacks, in words; "" where it lacks nothing. */
export function missingWords(q: Question, d: Draft): string {
  const all = q.questions ?? [];
  const open = missing(q, d);
  if (open.length === 0) return "";
  if (all.length === 1) return all[0]?.options?.length ? "Choose an option or write your own answer." : "Write your answer.";
  const names = open.slice(0, SHOWN_MISSING).map((i) => all[i]?.header || `question ${i + 1}`);
  return `${all.length - open.length} of ${all.length} answered. Missing: ${names.join(", ")}${open.length > SHOWN_MISSING ? " …" : ""}`;
}

/** The question that a number key is for: the one with the keyboard, else the first that is not answered. */
export function numbered(q: Question, d: Draft, focused: number): number {
  return focused >= 0 ? focused : (missing(q, d)[0] ?? 0);
}

export function answerOf(d: Draft): Answer {
  return { action: "answer", choices: d.choices, texts: d.texts.map((t) => t.trim()) };
}

/** Makes an answer of the text in the prompt box, together with the choices so far. */
export function typedAnswer(q: Question, text: string, d: Draft = emptyDraft(q)): Answer {
  if (q.kind === "exit_plan") return { action: "revise", text };
  if (q.questions?.length !== 1) return { ...answerOf(d), text };
  return answerOf(write(d, 0, [d.texts[0]?.trim(), text].filter(Boolean).join("\n")));
}

/** The answer to one of the questions, as a line for the timeline. */
export function answered(i: number, a: Answer | undefined): string {
  const parts = [...(a?.choices?.[i] ?? []), a?.texts?.[i] ?? ""].filter((x) => x !== "");
  return parts.join(", ") || (a?.text ? "see below" : "");
}
