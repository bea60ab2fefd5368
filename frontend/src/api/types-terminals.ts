// Terminal sessions: the shapes of backend/core/terminal.go and the messages of
// /api/ws/terminal (docs/protocol.md).
import type { ChannelID } from "./types";

export type TerminalID = string;
export type TerminalTarget = "agent" | "host";
export type OpenMode = "" | "resume" | "fork" | "fresh";
export type TerminalState = "running" | "away" | "ended";
export type TerminalExit = { code: number; signal?: string; reason?: string };

export type TerminalInfo = {
  session_id: TerminalID;
  channel_id: ChannelID;
  container_id?: string;
  target: TerminalTarget;
  state: TerminalState;
  title: string;
  named: boolean;
  dir?: string;
  cmd?: string[] | null;
  exit?: TerminalExit | null;
  cols: number;
  rows: number;
  viewers: number;
  recording?: string;
  created_at: string;
};

export type Recording = {
  name: string;
  session_id: TerminalID;
  channel_id: ChannelID;
  title: string;
  started_at: string;
  duration_ms: number;
  bytes: number;
  cols: number;
  rows: number;
};

/** What a pane asks for when there is no session yet. */
export type TerminalCreate = {
  channel_id?: ChannelID;
  container_id?: string;
  target?: TerminalTarget;
  cmd?: string[];
  plain?: boolean;
  open_mode?: OpenMode;
  title?: string;
};

export type ClientMessage =
  | ({ type: "create"; rows: number; cols: number; acks: true } & TerminalCreate)
  | { type: "attach"; session_id: TerminalID; acks: true }
  | { type: "resize"; rows: number; cols: number }
  | { type: "ack"; offset: number }
  | { type: "show"; visible: boolean }
  | { type: "record"; on: boolean }
  | { type: "close" | "stop"; session_id?: TerminalID }
  | { type: "resync" | "detach" };

export type AttachedMessage = {
  type: "created" | "attached";
  session_id: TerminalID;
  cols: number;
  rows: number;
  offset: number;
  snapshot: number; // bytes of the snapshot that follow as binary
  title?: string;
  state?: TerminalState;
  target?: TerminalTarget;
  channel_id?: ChannelID;
  container_id?: string;
};

export type ServerMessage =
  | AttachedMessage
  | { type: "error"; message: string; error_code: string; remedy?: string; session_id?: TerminalID }
  | { type: "closed"; session_id: TerminalID; exit_code: number; signal?: string; message?: string }
  | { type: "stopped" | "detached"; session_id: TerminalID }
  | { type: "resized"; cols: number; rows: number; offset: number }
  | { type: "resync"; cols: number; rows: number; offset: number; snapshot: number }
  | { type: "recording"; name: string };
