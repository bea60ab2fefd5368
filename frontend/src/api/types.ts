// The JSON shapes of backend/core and backend/bind. Names are the backend's.
import type { Wait } from "./types-questions";

export type * from "./types-questions";

import type { ContextFill, DayCost, Usage } from "./types-usage";

export type ChannelID = string;
export type RunID = string;

export type Failure = { code: string; cause: string; remedy?: string; detail?: string };

export type ChannelKind = "project" | "thread" | "worktree" | "demo";
export type ChannelState = "idle" | "queued" | "working" | "needs_you" | "done" | "failed";

export type Channel = {
  channel_id: ChannelID;
  parent_id?: ChannelID;
  kind: ChannelKind;
  name: string;
  dir: string;
  session_id?: string;
  next_session?: SessionStart;
  branch?: string; // of a worktree
  parent_dir?: string; // main work tree of a worktree
  context?: ContextFill; // of its conversation
  created_at: string;
};

export type SessionMode = "resume" | "fork" | "fresh";

/** With which conversation a run begins; without a mode, the channel's own. */
export type SessionStart = { mode?: SessionMode; session_id?: string; at?: string };

export type ChannelView = Channel & {
  state: ChannelState;
  running_since?: string;
  queued: number;
  questions?: number; // open ones; the channel waits for the person
  last_event_id: number;
  last_error?: Failure | null;
};

export type RunState = "queued" | "starting" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export type Run = {
  run_id: RunID;
  channel_id: ChannelID;
  prompt: string;
  author_id?: string;
  state: RunState;
  priority: number;
  rank?: number; // among those of one priority
  demo: boolean;
  script?: string;
  created_at: string;
  not_before?: string;
  hold_until?: string;
  plan?: boolean;
  session?: SessionStart;
  attempt?: Attempt;
  trigger?: string;
  started_at?: string;
  ended_at?: string;
  container_id?: string;
  spawn_id?: string;
  outcome?: Outcome;
  waits_for?: Wait; // only in an answer, as of then
};

export type AttemptKind = "compact" | "compacted" | "latest" | "transient";

/** Where a run stands between its tries; without a kind, the first. */
export type Attempt = {
  number: number;
  kind?: AttemptKind;
  reason?: string;
  session_id?: string;
  transient?: number;
  not_before?: string;
  delay_ms?: number;
  failure?: Failure | null; // of an earlier try, which the run ends with if this one fails too
  compacted?: boolean;
  latest?: boolean;
  usage?: Usage; // of the tries before this one
};

export type Outcome = Usage & {
  text?: string;
  session_id?: string;
  model?: string;
  num_turns?: number;
  stop_reason?: string;
  duration_ms?: number;
  exit_code?: number;
  failure?: Failure | null;
};

export type Container = {
  container_id: string;
  container_name: string;
  channel_id: ChannelID;
  run_id?: RunID;
  type: string;
  status: string;
  image: string;
  hash?: string;
  created_at: string;
  remove_at?: string;
};

export type EngineStatus = {
  ok: boolean;
  host: string;
  source: string;
  name: string;
  version: string;
  api_version: string;
  os: string;
  arch: string;
  rootless: boolean;
  failure?: Failure | null;
};

export type ImageState = "unknown" | "missing" | "stale" | "ready" | "building";

export type ImageStatus = {
  state: ImageState;
  ref: string;
  id?: string;
  step?: string;
  progress?: number;
  note?: string;
  lines?: string[] | null;
  failure?: Failure | null;
};

export type ConfigProblem = { line: number; col: number; field: string; message: string; remedy: string };

export type ConfigStatus = {
  path: string;
  problems: ConfigProblem[] | null;
  has_credentials: boolean;
  credential_kind?: string;
  theme: string;
  terminal: TerminalLook;
};

export type TerminalLook = { font_family: string; font_size: number; shift_enter: string; bell: string; copy_on_select: boolean; screen_reader: boolean; colors?: string[] | null; minimum_contrast?: number };

export type Snapshot = {
  seq: number;
  launch: string;
  version: string;
  mode: "window" | "headless";
  engine: EngineStatus;
  image: ImageStatus;
  channels: ChannelView[] | null;
  containers: Container[] | null;
  config: ConfigStatus;
  cost_today: DayCost;
  gate: string;
  max_runs: number; // under way at once, over all channels
};

export type LoopEvent = {
  seq: number;
  first_seq?: number;
  id?: number;
  type: string;
  channel_id?: ChannelID;
  run_id?: RunID;
  timestamp: number; // ms since the epoch
  data?: unknown;
};

export type MessageCreated = {
  msg_id: string;
  author_id?: string;
  author_name?: string;
  content: string;
  is_bot: boolean;
  uuid?: string;
  cut?: boolean; // the agent ended in the middle of it
  is_processed: boolean; // false for a prompt that waits
  priority?: number;
  trigger_msg_id?: string;
  not_before?: number; // ms since the epoch
};
export type MessageUpdated = { msg_id: string; content?: string };
export type MessageStreaming = { msg_id: string; block: number; kind: string; offset: number; delta: string };
export type Thinking = { msg_id?: string; text: string; cut?: boolean };
export type ToolUse = { tool_use_id: string; parent_tool_use_id?: string; tool_name: string; input: unknown; cut?: boolean };
export type BackgroundTask = { task_id: string; kind: string; what: string };
/** All that the agent has under way besides its turn; waiting: the run goes on for that alone. */
export type Background = { tasks: BackgroundTask[] | null; waiting: boolean };
export type FileChange = { path: string; kind: string; added: number; removed: number; patch?: string };
export type ToolResult = {
  tool_use_id: string;
  parent_tool_use_id?: string;
  output: string;
  is_error: boolean;
  truncated?: boolean;
  files?: FileChange[] | null;
};
export type Activity = { activity: string; description?: string; model?: string };
export type Status = Usage & {
  status: string;
  state: RunState;
  step?: string;
  error?: string;
  failure?: Failure | null;
  result?: string;
  session_id?: string;
  duration_ms?: number;
  num_turns?: number;
  stop_reason?: string;
  model?: string;
  exit_code?: number;
  msg_id?: string;
  trigger?: string;
  trigger_content?: string;
};
export type Notice = { level: string; text: string };

export type LiveMessage = { run_id: RunID; msg_id: string; blocks: { kind: string; text: string }[] | null };

export type TimelinePage = {
  events: LoopEvent[] | null;
  has_more: boolean;
  live: LiveMessage | null;
  queue: Run[] | null;
};

export type FolderList = { path: string; parent: string; entries: { name: string; path: string }[] | null };

export type DoctorCheck = {
  id: string;
  title: string;
  state: "ok" | "warn" | "fail" | "skip";
  summary: string;
  remedy?: string;
  detail?: string;
  duration_ms: number;
};
export type DoctorReport = { checks: DoctorCheck[] | null };

export type CredentialKind = "anthropic_api_key" | "claude_code_oauth_token";

/** How a prompt is sent, besides its text. */
export type PromptOptions = {
  interrupt?: boolean; // before everything that waits; the run under way is stopped
  delay_seconds?: number;
  plan?: boolean; // plan first, and ask for approval
  session?: SessionStart;
};

export type ThreadRequest = { parent_id: ChannelID; name: string; session?: SessionStart };
export type WorktreeRequest = { parent_id: ChannelID; branch: string; name: string; base: string };

/** A conversation that the agent keeps in a channel's state. */
export type SessionInfo = {
  session_id: string;
  title: string;
  model?: string;
  dir?: string;
  branch?: string;
  messages: number;
  size_bytes: number;
  updated_at: string;
  current?: boolean;
  demo?: boolean;
};

export type SessionMessage = { uuid: string; role: string; text: string; at: string };
