// The part of a timeline that is shown.
import { deniedCalls } from "./decided";
import type { Item, StartItem } from "./items";

export type Filter = "all" | "messages" | "files" | "problems" | "unknown";

export const FILTERS: Record<Filter, string> = { all: "Whole run", messages: "Messages", files: "Files changed", problems: "Problems", unknown: "Unknown events" };

const SLOW_START_MS = 5000;

/** Whether the start of a run is worth a row: it is under way, took long or failed. */
export const tellsStart = (it: StartItem): boolean => it.failed || it.readyAt === 0 || it.readyAt - it.at >= SLOW_START_MS;

export function passes(it: Item, filter: Filter): boolean {
  if (it.kind === "gate") return filter === "all" || it.approval.state === "waiting" || (filter === "problems" && it.approval.state !== "allowed");
  if (it.kind === "decided") return filter === "all" || (filter === "problems" && deniedCalls(it.decided) > 0);
  if (it.kind === "rewound" || it.kind === "talk") return true;
  switch (filter) {
    case "all":
      return it.kind !== "raw" && (it.kind !== "start" || tellsStart(it));
    case "unknown": // what Loop has no words for, as it came
      return it.kind === "prompt" || it.kind === "raw";
    case "messages":
      return it.kind === "prompt" || it.kind === "text" || it.kind === "question" || it.kind === "end";
    case "files":
      return it.kind === "prompt" || (it.kind === "tool" && (it.result?.files?.length ?? 0) > 0);
    case "problems":
      return (
        (it.kind === "tool" && (it.orphaned || it.result?.is_error === true)) ||
        (it.kind === "notice" && it.level !== "info") ||
        (it.kind === "end" && it.status.state !== "done") ||
        (it.kind === "start" && it.failed) ||
        it.kind === "attempt" ||
        it.kind === "retry" ||
        (it.kind === "activity" && (it.name === "api_retry" || it.name === "rate_limit" || it.name === "task_error"))
      );
  }
}
