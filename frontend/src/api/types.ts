// The JSON shapes of backend/core and backend/bind. Names are the backend's.

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
  created_at: string;
};

export type ChannelView = Channel & {
  state: ChannelState;
  running_since?: string;
  queued: number;
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
  demo: boolean;
  script?: string;
  created_at: string;
  started_at?: string;
  ended_at?: string;
  container_id?: string;
};

export type Container = {
  container_id: string;
  container_name: string;
  channel_id: ChannelID;
  run_id?: RunID;
  type: string;
  status: string;
  image: string;
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
};

export type Snapshot = {
  seq: number;
  version: string;
  mode: "window" | "headless";
  engine: EngineStatus;
  image: ImageStatus;
  channels: ChannelView[] | null;
  containers: Container[] | null;
  config: ConfigStatus;
  cost_today_usd: number;
  gate: string;
};

export type LoopEvent = {
  seq: number;
  id?: number;
  type: string;
  channel_id?: ChannelID;
  run_id?: RunID;
  timestamp: number; // ms since the epoch
  data?: unknown;
};

export type MessageCreated = { msg_id: string; author_id?: string; author_name?: string; content: string; is_bot: boolean };
export type MessageStreaming = { msg_id: string; block: number; kind: string; offset: number; delta: string };
export type Thinking = { msg_id?: string; text: string };
export type ToolUse = { tool_use_id: string; parent_tool_use_id?: string; tool_name: string; input: unknown };
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
export type Status = {
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
  cost_usd?: number;
  exit_code?: number;
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
