// What came of a run: the files that its editing tools have changed.
import type { FileChange } from "../../api/types";
import type { ChangedFile, RunInfo } from "./items";

const PLAIN = new Set([
  "Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "Task", "Agent", "ToolSearch",
  "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Edit", "MultiEdit", "Write",
]);

/** Whether a tool changes no file, or says which. A command may change any. */
export function saysWhatItChanges(tool: string): boolean {
  return PLAIN.has(tool) || tool.startsWith("mcp__loop__") || tool.startsWith("mcp__loop-browser__");
}

/** The files with those of one more call, which may have changed some of them again. */
export function withFiles(all: readonly ChangedFile[], useId: string, more: readonly FileChange[]): ChangedFile[] {
  const out = [...all];
  for (const f of more) {
    if (!f.path) continue;
    const at = out.findIndex((x) => x.path === f.path);
    const before = out[at];
    if (before) out[at] = { ...before, added: before.added + f.added, removed: before.removed + f.removed };
    else out.push({ path: f.path, added: f.added, removed: f.removed, useId, ...(f.alarm && { alarm: f.alarm }) });
  }
  return out;
}

/** alarms: what those of the files are that reach further than the project, each word once. */
export type Outcome = { files: ChangedFile[]; added: number; removed: number; words: string; alarms: string[] };

/** What the end of a run says of its files; null where nothing can be said. */
export function outcomeOf(run: RunInfo | undefined, done: boolean): Outcome | null {
  if (!run) return null;
  const n = run.files.length;
  if (n === 0) {
    // A run whose beginning is on an older page, or that ran commands, may have changed some.
    const known = done && run.promptAt > 0 && !run.commands;
    return known ? { files: [], added: 0, removed: 0, words: "no files changed", alarms: [] } : null;
  }
  const sum = (of: "added" | "removed") => run.files.reduce((all, f) => all + f[of], 0);
  return { files: run.files, added: sum("added"), removed: sum("removed"), words: n === 1 ? "1 file" : `${n} files`, alarms: [...new Set(run.files.flatMap((f) => f.alarm ?? []))] };
}
