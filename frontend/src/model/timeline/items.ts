// The items of a timeline, made from events. Each is a row of the page.
import type { Approval, Attachment, Attempt, ChannelID, Failure, GateDecisions, Question, Rewind, RunID, Status, TerminalTalk, ToolResult } from "../../api/types";

type Base = { key: string; at: number; runId: RunID };

export type PromptItem = Base & { kind: "prompt"; text: string; author: string; own?: string; pictures?: Attachment[]; channelId?: ChannelID };
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
  cut: boolean; // the input was cut off while the agent wrote it
  agent?: AgentInfo; // of a call that a sub-agent works for
  channelId?: ChannelID; // of one that shows pictures
};
/**
 * What is known of a sub-agent. calls and counted: its calls as the CLI says, and as there are
 * events of. doing: the CLI's words for what it does now; last: its last call. said: its last
 * words. report: what it gave back.
 */
export type AgentInfo = {
  kind: string; model: string; calls: number; counted: number; tokens: number; ms: number;
  state: "" | "running" | "done" | "failed" | "stopped";
  endedAt: number; doing: string; last: { name: string; input: unknown } | null; report: string; said: string;
};
/** driver: who drives the browser from then on, "" where it is about something else. until: the person has given back, or the run has ended; 0 before. */
export type NoticeItem = Base & { kind: "notice"; level: string; text: string; driver: string; until: number };
export type StepMark = { step: string; at: number };
export type StartItem = Base & { kind: "start"; steps: StepMark[]; readyAt: number; failed: boolean };
export type EndItem = Base & { kind: "end"; status: Status; startedAt: number; failure: Failure | null };
/** An activity that the agent CLI reported besides text and tools. parentId: the call of the sub-agent that it is of. */
export type ActivityItem = Base & { kind: "activity"; name: string; text: string; parentId: string };
export type RetryEnd = "" | "answered" | "failed" | "stopped";
/** The wait for a model that refused. tries: waits so far. due: the next try. own: Loop waits, and can begin at once. until: 0 while it waits. */
export type RetryItem = Base & { kind: "retry"; why: string; attempt: number; of: number; delay: number; own: boolean; tries: number; due: number; until: number; end: RetryEnd };
/** A further try of a run that goes on in another way: the failure before, and the remedy that is tried. */
export type AttemptItem = Base & { kind: "attempt"; attempt: Attempt };
/** The agent's question, and its answer once there is one. */
export type QuestionItem = Base & { kind: "question"; question: Question };
/** A call that the gate held, and its answer once there is one. */
export type GateItem = Base & { kind: "gate"; approval: Approval };
/** What rules and earlier answers decided of one tool call, or of a run where that is not known. */
export type DecidedItem = Base & { kind: "decided"; decided: GateDecisions };
export type Todo = { text: string; state: string };
/** The agent's list of steps; a later list of the same run takes its place. */
export type TodosItem = Base & { kind: "todos"; todos: Todo[] };
/** Going back to before a prompt. It belongs to no run. */
export type RewoundItem = Base & { kind: "rewound"; rewind: Rewind };
/** A conversation in a terminal. Its rows have its id in the place of a run's (talks.ts). */
export type TalkItem = Base & { kind: "talk"; talk: TerminalTalk };
export type RawItem = Base & { kind: "raw"; type: string; data: unknown };

/** A run of reads and searches in one row. It is made for the page's list only (reads.ts). */
export type ReadsItem = Base & { kind: "reads"; parentId: string; items: ToolItem[] };

export type Item = PromptItem | TextItem | ThinkingItem | ToolItem | NoticeItem | StartItem | EndItem | ActivityItem | RetryItem | AttemptItem | QuestionItem | GateItem | DecidedItem | TodosItem | ReadsItem | RewoundItem | TalkItem | RawItem;

/** A background task of the agent. since: the time of its first event on this page. */
export type TaskInfo = { id: string; kind: string; what: string; since: number };

export type RunInfo = {
  runId: RunID;
  startedAt: number;
  seenAt: number; // time of its first row here; its start may be on an older page
  runningAt: number; // time when the agent started; 0 before
  promptAt: number;
  endedAt: number; // 0 while it goes on
  ready: boolean; // the agent has shown a first sign of life
  model: string;
  ownModel: boolean; // its prompt had one of its own
  activity: string; // the present activity in words
  retry: string; // key of the row that waits for the model, "" where none does
  tasks: TaskInfo[];
  waiting: boolean; // the agent's turn is over, and the run goes on only for its tasks
  lastAt: number; // time of the last row, so that the next can show its duration
  files: ChangedFile[]; // that editing tools have changed, as far as this page knows
  commands: boolean; // it ran some, and what those change nobody knows
};

/** A file that a run has changed. useId: of the first call that did. */
export type ChangedFile = { path: string; added: number; removed: number; useId: string; alarm?: string }; // alarm: what it is, where it reaches further than the project

export type LiveBlock = { msgId: string; runId: RunID; block: number; kind: string; bytes: number; key: string };

export type Built = {
  items: Item[];
  runs: Record<RunID, RunInfo>;
  live: LiveBlock[]; // unfinished blocks, in order
  settled: Record<string, number>; // "run/msg/kind" → how many blocks of it are stored
};

export const emptyBuilt: Built = { items: [], runs: {}, live: [], settled: {} };

export function newRun(runId: RunID, at: number): RunInfo {
  return { runId, startedAt: 0, seenAt: 0, runningAt: 0, promptAt: 0, endedAt: 0, ready: false, model: "", ownModel: false, activity: "", retry: "", tasks: [], waiting: false, lastAt: at, files: [], commands: false };
}

/** Whether a row says that the person drives the browser, who still does. */
export const drives = (it: Item): boolean => it.kind === "notice" && it.driver === "person" && it.until === 0;

export function isTerminal(state: string): boolean {
  return state === "done" || state === "failed" || state === "cancelled" || state === "interrupted";
}

