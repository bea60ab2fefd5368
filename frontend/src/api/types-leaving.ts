// What becomes of everything under way when Loop ends: backend/bind/leaving.go.
import type { ChannelID } from "./types";

export type LeavingKind = "run" | "prompt" | "program" | "terminal" | "recording" | "image";

export type LeavingItem = {
  kind: LeavingKind;
  channel_id?: ChannelID;
  channel?: string;
  name?: string; // of a run or prompt what it says, of a terminal what runs in it
  title?: string; // of a terminal
  host?: boolean; // on this computer
  at?: string; // a prompt that is not to start earlier
};

export type Leaving = {
  stays: boolean; // Loop is needed for some of it
  ends: LeavingItem[];
  goes_on: LeavingItem[];
  waits: LeavingItem[];
};
