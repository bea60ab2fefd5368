import type { Item } from "./items";

const LONG_PROMPT = 600; // characters

/** Whether an item has more than its folded row shows. */
export function isFoldable(it: Item): boolean {
  switch (it.kind) {
    case "tool":
    case "thinking":
    case "raw":
    case "reads":
    case "decided":
    case "talk":
      return true;
    case "activity":
      return it.text !== "" && it.name !== "task_message" && it.name !== "task_report";
    case "start":
      return it.readyAt > 0;
    case "prompt":
      return it.text.length > LONG_PROMPT;
    case "gate":
      return it.approval.state !== "waiting";
    case "rewound":
      return it.rewind.state === "done" && it.rewind.what !== "files";
    case "end":
      return Boolean(it.status.model_usage?.length);
    default:
      return false;
  }
}
