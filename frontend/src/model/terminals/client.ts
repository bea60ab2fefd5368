// What a terminal client is given and what it says of itself.
import type { ChannelID, Failure } from "../../api/types";
import type { TerminalColors } from "../../api/terminal-messages";
import type { TerminalCreate, TerminalExit, TerminalID, TerminalTarget } from "../../api/types";

export type PaneState =
  | "connecting" // nothing to show yet
  | "live"
  | "reconnecting" // Loop does not answer; the program goes on
  | "away" // its container cannot be reached; the program goes on there
  | "ended"
  | "failed"; // there is no such session, or it could not be made

export type Wire = { send(data: string | Uint8Array): void; close(): void };
export type WireEvents = { open(): void; text(text: string): void; bytes(data: Uint8Array): void; close(): void };
export type Dial = (events: WireEvents) => Wire;
/** Runs f after ms; the result cancels it. */
export type Later = (ms: number, f: () => void) => () => void;

/** What is drawn on. Calls arrive in order and take effect in order. */
export type Screen = {
  fresh(cols: number, rows: number): void; // forget everything, take this size
  write(data: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  drawn(): void; // the snapshot is on the screen; what follows is live
};

export type ClientState = {
  state: PaneState;
  sessionId: TerminalID;
  channelId: ChannelID;
  target: TerminalTarget;
  title: string;
  cols: number;
  rows: number;
  exit: TerminalExit | null;
  failure: Failure | null;
  recording: string;
  retries: number;
};

export type Options = {
  dial: Dial;
  later: Later;
  screen: Screen;
  want: { sessionId: TerminalID } | { create: TerminalCreate };
  size: { cols: number; rows: number };
  visible: boolean;
  colors?(): TerminalColors | null;
  random?: () => number;
  onChange(state: ClientState): void;
  /** A refusal that ends nothing. */
  onNotice(text: string): void;
};
