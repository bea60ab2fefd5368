// Items as plain text, for the clipboard and as names for a screen reader.
import { failureText, safeJSON } from "../../api/failure";
import type { Status } from "../../api/types";
import { clock } from "../../model/clock";
import { duration, modelName, plural } from "../../model/format";
import { stripColour, visible } from "../../model/text";
import { answererWords, stateWords, verb } from "../../model/gate";
import { visibleLine } from "../../model/gate-text";
import { footageStore } from "../../model/footage";
import { byWords, decidedLine } from "../../model/timeline/decided";
import type { EndItem, GateItem, Item, NoticeItem } from "../../model/timeline/items";
import { wentWords } from "../../model/rewind";
import { activityVerb } from "../../model/timeline/activity";
import { readsWords } from "../../model/timeline/reads";
import { describeTool } from "../../model/timeline/tools";
import { contextWords, costWords, usageFacts } from "../../model/usage";
import { talkWords } from "../../model/timeline/talks";
import { retryWords } from "../../model/timeline/retries";
import { attemptWords, questionWords } from "./rows/RunRows";

export function itemText(it: Item): string {
  switch (it.kind) {
    case "text":
    case "thinking":
      return it.cut ? `${it.text}\n[cut off here]` : it.text;
    case "prompt":
    case "activity":
      return it.text;
    case "notice":
      return noticeWords(it);
    case "tool": {
      const input = typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
      const head = it.name === "Bash" && typeof input.command === "string" ? `$ ${input.command}` : `${it.name} ${safeJSON(it.input)}`;
      const patches = (it.result?.files ?? []).map((f) => f.patch).filter(Boolean);
      const output = it.agent ? it.agent.report : (it.result?.output ?? "");
      return [head, stripColour(output), ...patches].filter(Boolean).join("\n");
    }
    case "reads":
      return it.items.map(itemText).join("\n\n");
    case "start":
      return it.steps.map((s) => `${clock(s.at)} ${s.step}`).join("\n");
    case "end":
      return [endWords(it), it.failure && failureText(it.failure)].filter(Boolean).join("\n");
    case "attempt":
      return attemptWords(it);
    case "retry":
      return Object.values(retryWords(it, it.until || it.due)).join(". ");
    case "question":
      return it.question.kind === "exit_plan" ? [it.question.plan, questionWords(it)].join("\n\n") : questionWords(it);
    case "gate":
      return gateWords(it);
    case "decided":
      return [`Gate: ${decidedLine(it.decided)}`, ...(it.decided.decisions ?? []).map((d) => `${d.state} ${verb(d)} ${visibleLine(d.target)} × ${d.calls}, ${byWords(d)}`)].join("\n");
    case "todos":
      return it.todos.map((t) => `[${t.state === "completed" ? "x" : " "}] ${t.text}`).join("\n");
    case "talk":
      return talkWords(it);
    case "rewound":
      return wentWords(it.rewind, clock(it.rewind.prompt_ms));
    case "raw":
      return safeJSON({ type: it.type, data: it.data });
  }
}

/** A change of hands at the browser has its time in its words, since the gutter has how long it lasted. */
export function noticeWords(it: NoticeItem): string {
  if (it.driver === "person") return `You took over at ${clock(it.at)}.${it.until ? "" : " Claude waits until you give back."}`;
  return it.driver ? `You gave back at ${clock(it.at)}.` : it.text;
}

export function gateWords(it: GateItem): string {
  const a = it.approval;
  return [`${stateWords(a)}: ${verb(a)} ${visibleLine(a.target)}`, answererWords(a), a.why].filter(Boolean).join(", ");
}

const ASKS: Record<string, string> = { ask_user: "Asked you", exit_plan: "Made a plan" };

export function endWord(s: Status): string {
  if (s.state === "done") return ASKS[s.stop_reason ?? ""] ?? "Done";
  return s.state === "cancelled" ? "Stopped" : s.state === "interrupted" ? "Interrupted" : "Failed";
}

/** Whether a run was scripted. It has no cost, and Loop names its model “scripted”. */
export const isDemo = (s: Status): boolean => s.model === "scripted";

/** The facts at the end of a run, the context last. */
export function endFacts(it: EndItem, model = ""): string[] {
  const s = it.status;
  const ms = s.duration_ms || (it.startedAt ? it.at - it.startedAt : 0);
  return [
    s.model || model ? modelName(s.model || model) : "",
    ms > 0 ? duration(ms) : "",
    s.num_turns ? plural(s.num_turns, "turn") : "",
    s.exit_code && s.state !== "done" && s.state !== "cancelled" ? `exit ${s.exit_code}` : "",
    ...usageFacts(s),
    contextWords(s.context),
  ].filter(Boolean);
}

export function endWords(it: EndItem): string {
  return [endWord(it.status), costWords(it.status, isDemo(it.status)), ...endFacts(it)].filter(Boolean).join(" · ");
}

export function itemLabel(it: Item): string {
  switch (it.kind) {
    case "prompt":
      return `Prompt, ${clock(it.at)}`;
    case "text":
      return it.cut ? "Agent, cut off" : "Agent";
    case "thinking":
      return it.cut ? "Thinking, cut off" : "Thinking";
    case "notice":
      return it.driver ? noticeWords(it) : `Notice: ${visible(it.text)}`;
    case "tool": {
      const v = describeTool(it, "", footageStore.getState()[it.runId]?.calls[it.useId]);
      return visible(`${v.verb} ${v.object} ${v.mark.text}`.trim().slice(0, 200));
    }
    case "reads": {
      const w = readsWords(it, "");
      return visible([w.verb, w.searched].filter(Boolean).join(" "));
    }
    case "start":
      return "Start of the run";
    case "end":
      return endWords(it);
    case "activity":
      return visible(`${activityVerb(it.name)}: ${it.text}`.slice(0, 200));
    case "attempt":
      return visible(attemptWords(it));
    case "retry": // without its clock, so that a screen reader does not hear each second
      return visible(`${retryWords(it, it.until || it.due).head}: ${it.why}`);
    case "question":
      return visible(questionWords(it).slice(0, 200));
    case "gate":
      return gateWords(it).slice(0, 200);
    case "decided":
      return visible(`Gate: ${decidedLine(it.decided)}`.slice(0, 200));
    case "todos":
      return `Steps, ${it.todos.filter((t) => t.state === "completed").length} of ${it.todos.length} done`;
    case "talk":
      return visible(talkWords(it).slice(0, 200));
    case "rewound":
      return wentWords(it.rewind, clock(it.rewind.prompt_ms));
    case "raw":
      return `Event ${visible(it.type)}`;
  }
}
