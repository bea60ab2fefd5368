// Terminal sessions: the shapes of backend/core/terminal.go. The messages of the
// socket are in terminal-messages.ts.
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
  plain?: boolean; // no agent was typed into it
  shell?: "prompt" | "running"; // what the shell's marks say; missing: it makes none
  command?: string; // what runs in it, as it was typed
  exit?: TerminalExit | null;
  cols: number;
  rows: number;
  viewers: number;
  recording?: string;
  recording_problem?: string; // why the last one ended by itself
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

/** The part of a text file around a line: bind.FilePart. */
export type FilePart = {
  path: string; // on this computer
  first: number; // number of the first of lines
  lines: string[];
  more: boolean; // the file goes on behind them
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
  dir?: string; // where it begins, if that is there
};
