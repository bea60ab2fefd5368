import { Check, CircleDashed, CircleDot, CircleHelp, ClipboardCheck, ListTodo, RotateCw } from "lucide-react";
import { duration } from "../../../model/format";
import { answered } from "../../../model/questions";
import type { AttemptItem, QuestionItem, TodosItem } from "../../../model/timeline/items";
import { SafeText } from "../../../ui/SafeText";

const ATTEMPTS: Record<string, string> = {
  compact: "Compacting the conversation",
  compacted: "Trying again with the compacted conversation",
  latest: "Trying again with the latest message only",
};

export function attemptWords(it: AttemptItem): string {
  const a = it.attempt;
  const wait = a.delay_ms ? ` in ${duration(a.delay_ms)}` : "";
  return [a.reason, `${ATTEMPTS[a.kind ?? ""] ?? "Trying again"}${wait}.`].filter(Boolean).join(" ");
}

/** A further try of a run. It is not shown as a failure, because the run goes on. */
export function AttemptRow({ item }: { item: AttemptItem }) {
  return (
    <div className="main notice-line selectable warning">
      <RotateCw size={14} aria-hidden />
      <span>
        <SafeText text={attemptWords(item)} />
      </span>
    </div>
  );
}

export function questionWords(it: QuestionItem): string {
  const q = it.question;
  if (q.kind === "exit_plan") {
    if (q.state === "open") return "Waits for your word on a plan";
    if (q.state === "cancelled") return "Plan declined";
    return q.answer?.action === "revise" ? `Changes to the plan asked for: ${q.answer.text ?? ""}` : "Plan approved";
  }
  if (q.state === "open") return `Waits for your answer: ${q.questions?.[0]?.question ?? ""}`;
  if (q.state === "cancelled") return "Question declined";
  return [...(q.questions ?? []).map((x, i) => `${x.question} ${answered(i, q.answer)}`), q.answer?.text ?? ""].filter(Boolean).join("\n");
}

export function QuestionRow({ item }: { item: QuestionItem }) {
  const q = item.question;
  const Icon = q.kind === "exit_plan" ? ClipboardCheck : CircleHelp;
  if (q.kind === "ask_user" && q.state === "answered") {
    return (
      <dl className="main answered selectable">
        {(q.questions ?? []).map((x, i) => (
          <div key={i}>
            <dt>
              <Icon size={14} aria-hidden /> <SafeText text={x.question} />
            </dt>
            <dd>
              <SafeText text={answered(i, q.answer)} />
            </dd>
          </div>
        ))}
        {q.answer?.text && (
          <div>
            <dt>In your own words</dt>
            <dd>
              <SafeText text={q.answer.text} />
            </dd>
          </div>
        )}
      </dl>
    );
  }
  return (
    <div className={`main notice-line selectable ${q.state === "open" ? "warning" : ""}`}>
      <Icon size={14} aria-hidden />
      <span>
        <SafeText text={questionWords(item)} />
      </span>
    </div>
  );
}

const STEP: Record<string, { icon: typeof Check; word: string }> = {
  completed: { icon: Check, word: "done" },
  in_progress: { icon: CircleDot, word: "under way" },
  pending: { icon: CircleDashed, word: "to do" },
};

export function TodosRow({ item }: { item: TodosItem }) {
  const done = item.todos.filter((t) => t.state === "completed").length;
  return (
    <div className="main todos selectable">
      <p className="todos-head">
        <ListTodo size={14} aria-hidden /> Steps <span className="tnum">{done} of {item.todos.length}</span>
      </p>
      <ul>
        {item.todos.map((t, i) => {
          const s = STEP[t.state] ?? { icon: CircleDashed, word: t.state };
          return (
            <li key={i} className={t.state}>
              <s.icon size={13} aria-hidden />
              <span className="sr-only">{s.word}: </span>
              <SafeText text={t.text} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
