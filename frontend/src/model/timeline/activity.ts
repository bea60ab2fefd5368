// Steps that the agent's CLI reports apart from its messages.
import type { Activity, LoopEvent } from "../../api/types";
import { agentSaid } from "./agents";
import { text } from "./coerce";
import type { Built } from "./items";
import { retry } from "./retries";
import { seen, took, touch } from "./running";

// These activities only show in the last row, while they last. All others stay in the timeline.
const PASSING: Record<string, string> = { init: "Starting", requesting: "Asking the model", thinking: "Thinking", compacting: "Compacting the conversation" };

export function activity(b: Built, ev: LoopEvent, a: Activity) {
  const runId = ev.run_id ?? "";
  if (text(a.parent_tool_use_id)) {
    if (ev.id) seen(b, runId, ev.timestamp);
    return agentSaid(b, ev, a);
  }
  const run = touch(b, runId, ev.timestamp);
  if (a.model) run.model = text(a.model);
  const name = text(a.activity);
  const said = text(a.description);
  if (name === "api_retry" && a.retry && ev.id) return retry(b, run, ev, a.retry);
  const passing = PASSING[name];
  if (passing || !ev.id || (name === "rate_limit" && said.startsWith("allowed"))) {
    run.activity = passing ? [passing, said].filter(Boolean).join(", ") : said || name.replaceAll("_", " ");
    return;
  }
  b.items.push({ kind: "activity", key: `e${ev.id}`, at: ev.timestamp, runId, name, text: said, parentId: "" });
  took(b, runId, ev.timestamp);
}

const VERBS: Record<string, string> = {
  rate_limit: "Rate limit", memory_recall: "Recalled from memory", active_goal: "Goal", user_text: "Told the agent",
  task_prompt: "Asked", task_message: "Said", task_report: "Reported", task_error: "Failed to ask the model",
  task_started: "Task started", task_progress: "Task", task_notification: "Task",
  background_started: "Goes on in the background", background_ended: "In the background", api_retry: "Waited for the model",
};

/** What an activity is called. */
export const activityVerb = (name: string): string => VERBS[name] ?? name.replaceAll("_", " ");
