// An item as plain text: for the clipboard and for a screen reader's name.
import { failureText, safeJSON } from "../../api/failure";
import type { Status } from "../../api/types";
import { clock } from "./clock";
import { duration, money, modelName } from "../../model/format";
import { stripColour, visible } from "../../model/text";
import type { Item } from "../../model/timeline/items";
import { describeTool } from "../../model/timeline/tools";
import { attemptWords, questionWords } from "./rows/RunRows";

export function itemText(it: Item): string {
  switch (it.kind) {
    case "text":
    case "thinking":
      return it.cut ? `${it.text}\n[cut off here]` : it.text;
    case "prompt":
    case "notice":
    case "activity":
      return it.text;
    case "tool": {
      const input = typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
      const head = it.name === "Bash" && typeof input.command === "string" ? `$ ${input.command}` : `${it.name} ${safeJSON(it.input)}`;
      const patches = (it.result?.files ?? []).map((f) => f.patch).filter(Boolean);
      return [head, stripColour(it.result?.output ?? ""), ...patches].filter(Boolean).join("\n");
    }
    case "start":
      return it.steps.map((s) => `${clock(s.at)} ${s.step}`).join("\n");
    case "end":
      return [endWords(it), it.failure && failureText(it.failure)].filter(Boolean).join("\n");
    case "attempt":
      return attemptWords(it);
    case "question":
      return it.question.kind === "exit_plan" ? [it.question.plan, questionWords(it)].join("\n\n") : questionWords(it);
    case "todos":
      return it.todos.map((t) => `[${t.state === "completed" ? "x" : " "}] ${t.text}`).join("\n");
    case "raw":
      return safeJSON({ type: it.type, data: it.data });
  }
}

const ASKS: Record<string, string> = { ask_user: "Asked you", exit_plan: "Made a plan" };

export function endWord(s: Status): string {
  if (s.state === "done") return ASKS[s.stop_reason ?? ""] ?? "Done";
  return s.state === "cancelled" ? "Stopped" : s.state === "interrupted" ? "Interrupted" : "Failed";
}

export function endWords(it: Extract<Item, { kind: "end" }>): string {
  const s = it.status;
  const ms = s.duration_ms || (it.startedAt ? it.at - it.startedAt : 0);
  return [
    endWord(s),
    s.model ? modelName(s.model) : "",
    ms ? duration(ms) : "",
    s.num_turns ? `${s.num_turns} ${s.num_turns === 1 ? "turn" : "turns"}` : "",
    s.cost_usd ? money(s.cost_usd) : "",
  ].filter(Boolean).join(" · ");
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
      return `Notice: ${visible(it.text)}`;
    case "tool": {
      const v = describeTool(it, "");
      return visible(`${v.verb} ${v.object} ${v.mark.text}`.trim().slice(0, 200));
    }
    case "start":
      return "Start of the run";
    case "end":
      return endWords(it);
    case "activity":
      return visible(`${it.name.replaceAll("_", " ")}: ${it.text}`.slice(0, 200));
    case "attempt":
      return visible(attemptWords(it));
    case "question":
      return visible(questionWords(it).slice(0, 200));
    case "todos":
      return `Steps, ${it.todos.filter((t) => t.state === "completed").length} of ${it.todos.length} done`;
    case "raw":
      return `Event ${visible(it.type)}`;
  }
}
