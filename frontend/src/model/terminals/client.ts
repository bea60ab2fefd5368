// The parts that a terminal client needs, and the state that it reports.
import type { ChannelID, Failure } from "../../api/types";
import type { TerminalColors } from "../../api/terminal-messages";
import type { TerminalCreate, TerminalExit, TerminalID, TerminalTarget } from "../../api/types";

export type PaneState =
  | "connecting" // nothing to show yet
  | "live"
  | "reconnecting" // Loop does not answer, but the program goes on
  | "away" // Loop cannot reach the container, but the program goes on in it
  | "ended"
  | "failed"; // the session does not exist, or could not be made

export type Wire = { send(data: string | Uint8Array): void; close(): void };
export type WireEvents = { open(): void; text(text: string): void; bytes(data: Uint8Array): void; close(): void };
export type Dial = (events: WireEvents) => Wire;
/** Runs f after ms milliseconds. The result cancels it. */
export type Later = (ms: number, f: () => void) => () => void;

/** The screen of the pane. Its calls take effect in the order in which they arrive. */
export type Screen = {
  fresh(cols: number, rows: number): void; // forgets everything and takes this size
  write(data: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  drawn(): void; // the snapshot is on the screen, and live output follows
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
  /** Reports a refusal after which the session goes on. typed: what was typed did not reach the program. */
  onNotice(text: string, typed?: boolean): void;
};
