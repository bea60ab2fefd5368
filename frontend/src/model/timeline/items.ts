// What a timeline is made of once events are read: the rows of the page.
import type { Attempt, Failure, Question, RunID, Status, ToolResult } from "../../api/types";

type Base = { key: string; at: number; runId: RunID };

export type PromptItem = Base & { kind: "prompt"; text: string; author: string };
export type TextItem = Base & { kind: "text"; text: string; live: boolean; cut: boolean; took: number; author: string; uuid: string };
export type ThinkingItem = Base & { kind: "thinking"; text: string; live: boolean; cut: boolean; took: number };
export type ToolItem = Base & {
  kind: "tool";
  useId: string;
  parentId: string;
  name: string;
  input: unknown;
  result: ToolResult | null;
  endedAt: number;
  orphaned: boolean; // the run ended and no result came
  cut: boolean; // its input was still being written then
};
export type NoticeItem = Base & { kind: "notice"; level: string; text: string };
export type StepMark = { step: string; at: number };
export type StartItem = Base & { kind: "start"; steps: StepMark[]; readyAt: number; failed: boolean };
export type EndItem = Base & { kind: "end"; status: Status; startedAt: number; failure: Failure | null };
/** Something the agent CLI reported that is neither its word nor a tool: a retry, a subtask. */
export type ActivityItem = Base & { kind: "activity"; name: string; text: string };
/** A further try of a run: what went wrong, and what is done about it. */
export type AttemptItem = Base & { kind: "attempt"; attempt: Attempt };
/** What the agent asked, and the answer once there is one. */
export type QuestionItem = Base & { kind: "question"; question: Question };
export type Todo = { text: string; state: string };
/** The agent's list of steps; a later list of the same run takes its place. */
export type TodosItem = Base & { kind: "todos"; todos: Todo[] };
export type RawItem = Base & { kind: "raw"; type: string; data: unknown };

export type Item = PromptItem | TextItem | ThinkingItem | ToolItem | NoticeItem | StartItem | EndItem | ActivityItem | AttemptItem | QuestionItem | TodosItem | RawItem;

/** What goes on besides the agent's turn, since its first event here. */
export type TaskInfo = { id: string; kind: string; what: string; since: number };

export type RunInfo = {
  runId: RunID;
  startedAt: number;
  runningAt: number; // the agent was started; 0 before
  promptAt: number;
  endedAt: number; // 0 while it goes on
  ready: boolean; // the first sign of life was seen
  model: string;
  activity: string; // what passes by now, in words
  tasks: TaskInfo[];
  waiting: boolean; // its turn is over: it goes on for the tasks alone
  lastAt: number; // of the last thing shown, so that the next can say how long it took
};

export type LiveBlock = { msgId: string; runId: RunID; block: number; kind: string; bytes: number; key: string };

export type Built = {
  items: Item[];
  runs: Record<RunID, RunInfo>;
  live: LiveBlock[]; // blocks still being written, in order
  settled: Record<string, number>; // "run/msg/kind" → how many blocks of it are stored
};

export const emptyBuilt: Built = { items: [], runs: {}, live: [], settled: {} };

export function newRun(runId: RunID, at: number): RunInfo {
  return { runId, startedAt: 0, runningAt: 0, promptAt: 0, endedAt: 0, ready: false, model: "", activity: "", tasks: [], waiting: false, lastAt: at };
}

export function isTerminal(state: string): boolean {
  return state === "done" || state === "failed" || state === "cancelled" || state === "interrupted";
}

