// The text messages on /api/ws/terminal (docs/protocol.md). Input and output are binary.
import type { ChannelID } from "./types";
import type { TerminalCreate, TerminalID, TerminalState, TerminalTarget } from "./types";

/** The pane's colours, each as #rrggbb, for programs that ask the terminal for them. */
export type TerminalColors = { foreground: string; background: string; cursor: string };

export type ClientMessage =
  | ({ type: "create"; rows: number; cols: number; acks: true; colors?: TerminalColors } & TerminalCreate)
  | { type: "attach"; session_id: TerminalID; acks: true; colors?: TerminalColors }
  | { type: "colors"; colors: TerminalColors }
  | { type: "resize"; rows: number; cols: number }
  | { type: "ack"; offset: number }
  | { type: "show"; visible: boolean }
  | { type: "record"; on: boolean }
  | { type: "close" | "stop"; session_id?: TerminalID }
  | { type: "resync" | "clear" | "detach" };

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
  | { type: "error"; message: string; error_code: string; remedy?: string; session_id?: TerminalID; request?: string }
  | { type: "closed"; session_id: TerminalID; exit_code?: number; signal?: string; message?: string; remedy?: string }
  | { type: "stopped" | "detached"; session_id?: TerminalID; channel_id?: ChannelID }
  | { type: "resized"; cols: number; rows: number; offset: number }
  | { type: "resync"; cols: number; rows: number; offset: number; snapshot: number }
  | { type: "recording"; name: string };
