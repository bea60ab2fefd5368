// What a pane is given and what it tells: the whole surface between one terminal
// and the layout around it.
import type { TerminalCreate, TerminalID, TerminalInfo, TerminalTarget } from "../../api/types";
import type { PaneState } from "../../model/terminals/client";
import type { Progress } from "../../model/terminals/pane";

export type PaneAction =
  | "split-right" | "split-down" | "new" | "close" // by key, menu or button
  | "restart" // of an ended session: the same again, in the same place
  | "zoom-in" | "zoom-out" | "zoom-reset" // text size, shared by all panes
  | "focus"; // the pane was clicked or focused

export type PaneInfo = {
  sessionId: TerminalID; // "" until there is one
  title: string; // clean, never empty
  dir: string; // where the shell says it is
  state: PaneState;
  exit: { code: number; signal?: string; reason?: string } | null;
  target: TerminalTarget;
  unread: boolean; // a bell or output since the pane was last looked at
  bell: boolean; // …and it was a bell
  progress: Progress;
  recording: string; // name of the recording under way
};

export type TerminalSettings = {
  fontFamily: string; // empty: the bundled one
  fontSize: number; // CSS px
  lineHeight: number;
  scrollback: number; // lines
  cursorBlink: boolean;
  shiftEnter: boolean; // Shift+Enter sends \ and CR
  copyOnSelect: boolean; // to the clipboard; the middle click has it in any case
  screenReader: boolean;
  bellSound: boolean;
  minimumContrast: number; // 1 is off
  macOptionIsMeta: boolean;
  leaveByF6: boolean; // off: F6 goes to the program
};

export const DEFAULT_SETTINGS: TerminalSettings = {
  fontFamily: "", fontSize: 13, lineHeight: 1.2, scrollback: 10_000, cursorBlink: true, shiftEnter: true, copyOnSelect: false,
  screenReader: false, bellSound: false, minimumContrast: 4.5, macOptionIsMeta: true, leaveByF6: true,
};

export type TerminalViewProps = {
  /** The session to show; or, while it is empty, what to create (once). */
  sessionId?: TerminalID;
  create?: TerminalCreate;
  /** What the stream of events says of the session: a container that went away, a name. */
  info?: TerminalInfo | null;
  visible: boolean; // drawn on the screen
  focused: boolean; // has, or is to have, the keyboard
  settings?: TerminalSettings;
  onInfo?(info: PaneInfo): void;
  onAction?(action: PaneAction): void;
  /** Keys of the layout (moving between panes): true if it took the key. Asked only for keys the terminal passes. */
  onKey?(e: KeyboardEvent): boolean;
  /** Everything that is typed or pasted here, for broadcasting. */
  onInput?(data: string | Uint8Array): void;
  /** A handle for the layout, null when the pane is gone. */
  onHandle?(handle: PaneHandle | null): void;
};

/** What the layout can do to a pane. */
export type PaneHandle = {
  focus(): void;
  /** Types text (or raw bytes) as the person would; used to broadcast. */
  input(data: string | Uint8Array): void;
  find(): void;
  record(on: boolean): void;
  /** Ends the session's program; the pane shows how it ended. */
  end(): void;
  text(): string; // selection, else the screen
  busy(): boolean | null; // a command runs, by the shell's own marks; null: it made none
};
