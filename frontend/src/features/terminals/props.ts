// The whole interface between one terminal pane and the layout around it.
import type { TerminalCreate, TerminalID, TerminalInfo, TerminalTarget } from "../../api/types";
import type { PaneState } from "../../model/terminals/client";
import type { Progress } from "../../model/terminals/pane";

export type PaneAction =
  | "split-right" | "split-down" | "new" | "close" // from a key, the menu or a button
  | "restart" // starts an ended session again, in the same place
  | "zoom-in" | "zoom-out" | "zoom-reset" // text size, shared by all panes
  | "focus"; // the pane was clicked or focused

export type PaneInfo = {
  sessionId: TerminalID; // "" until the session exists
  title: string; // clean, never empty
  dir: string; // the folder that the shell reports
  state: PaneState;
  exit: { code: number; signal?: string; reason?: string } | null;
  target: TerminalTarget;
  unread: boolean; // a bell rang or output came since the person last looked at the pane
  bell: boolean; // a bell rang since then
  progress: Progress;
  recording: string; // name of the recording under way
};

export type TerminalSettings = {
  fontFamily: string; // "" is the bundled font
  fontSize: number; // CSS px
  lineHeight: number;
  scrollback: number; // lines
  cursorBlink: boolean;
  shiftEnter: boolean; // Shift+Enter sends \ and CR
  copyOnSelect: boolean; // a selection goes to the clipboard; a middle click pastes it in any case
  screenReader: boolean;
  bellSound: boolean;
  minimumContrast: number; // 1 is off
  macOptionIsMeta: boolean;
  leaveByF6: boolean; // F6 moves the focus; if false it goes to the program
};

export const DEFAULT_SETTINGS: TerminalSettings = {
  fontFamily: "", fontSize: 13, lineHeight: 1.2, scrollback: 10_000, cursorBlink: true, shiftEnter: true, copyOnSelect: false,
  screenReader: false, bellSound: false, minimumContrast: 4.5, macOptionIsMeta: true, leaveByF6: true,
};

export type TerminalViewProps = {
  /** The session to show. While it is empty, the pane creates one from create, once. */
  sessionId?: TerminalID;
  create?: TerminalCreate;
  /** The session's info from events, as when its container went away or its name changed. */
  info?: TerminalInfo | null;
  visible: boolean; // the layout shows the pane
  focused: boolean; // the pane has the keyboard, or must take it
  settings?: TerminalSettings;
  onInfo?(info: PaneInfo): void;
  onAction?(action: PaneAction): void;
  /** Gives the layout a key that the terminal does not take. True if the layout took it. */
  onKey?(e: KeyboardEvent): boolean;
  /** Gets all text typed or pasted here, for typing into several panes. */
  onInput?(data: string | Uint8Array): void;
  /** Gets the pane's handle, and null when the pane is gone. */
  onHandle?(handle: PaneHandle | null): void;
};

/** The calls of the layout to a pane. */
export type PaneHandle = {
  focus(): void;
  /** Types text or bytes as the person would, for typing into several panes. */
  input(data: string | Uint8Array): void;
  find(): void;
  record(on: boolean): void;
  /** Ends the session's program. The pane then shows how it ended. */
  end(): void;
  text(): string; // the selection, else the screen
  busy(): boolean | null; // whether a command runs, by the shell's marks; null: the shell makes none
};
