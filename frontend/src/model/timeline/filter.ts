// The part of a timeline that is shown.
import { deniedCalls } from "./decided";
import type { Item } from "./items";

export type Filter = "all" | "messages" | "files" | "problems";

export const FILTERS: Record<Filter, string> = { all: "Everything", messages: "Messages", files: "Files changed", problems: "Problems" };

export function passes(it: Item, filter: Filter): boolean {
  if (it.kind === "gate") return filter === "all" || it.approval.state === "waiting" || (filter === "problems" && it.approval.state !== "allowed");
  if (it.kind === "decided") return filter === "all" || (filter === "problems" && deniedCalls(it.decided) > 0);
  if (it.kind === "rewound") return true;
  switch (filter) {
    case "all":
      return true;
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
        (it.kind === "activity" && (it.name === "api_retry" || it.name === "rate_limit"))
      );
  }
}
