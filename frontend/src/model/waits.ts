// The reason why each prompt of a queue waits, by the rule of backend/core/wait.go. Both
// pass the cases in backend/core/testdata/waits.json.
import type { Question, Run, Wait } from "../api/types";
import { elapsed } from "./format";
import type { FrameState } from "./frame";

export type QueueState = { question?: Question; running: boolean; full: boolean; now: number };

/** Whether as many runs are under way as there may be, over all channels. */
export function allBusy(f: Pick<FrameState, "maxRuns" | "channels">): boolean {
  return f.maxRuns > 0 && f.channels.filter((c) => c.state === "working" && !c.talking).length >= f.maxRuns;
}

/** The reasons in the order of the queue. At most one prompt has none: it is about to begin. */
export function waits(queue: Run[], s: QueueState): Wait[] {
  let ahead = 0;
  const comes = (t: string | undefined) => Boolean(t) && Date.parse(t ?? "") > s.now;
  return queue.map((r) => {
    const [held, delayed, before] = [comes(r.hold_until), comes(r.not_before), ahead];
    if (held || !delayed) ahead++;
    if (s.question) {
      const reason = s.question.kind === "exit_plan" ? "plan" : "question";
      return { reason, question_id: s.question.question_id, until: delayed ? r.not_before : undefined };
    }
    if (held) return { reason: "held", until: r.hold_until };
    if (delayed) return { reason: "delayed", until: r.not_before };
    if (before > 0) return { reason: "behind", ahead: before };
    return { reason: s.running ? "run" : s.full ? "limit" : "" };
  });
}

/** The reason in a few words, for the beginning of the prompt's row. */
export function waitWords(w: Wait, now: number): string {
  const left = w.until ? elapsed(Date.parse(w.until) - now) : "";
  switch (w.reason) {
    case "question":
      return left ? `in ${left}, after your answer` : "waits for your answer";
    case "plan":
      return left ? `in ${left}, after your word on the plan` : "waits for your word on the plan";
    case "held":
      return `held for ${left}`;
    case "delayed":
      return `in ${left}`;
    case "behind":
      return w.ahead === 1 ? "after 1 other" : `after ${w.ahead} others`;
    case "limit":
      return "next, when a run elsewhere ends";
    default:
      return "next";
  }
}
