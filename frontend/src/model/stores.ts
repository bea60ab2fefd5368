// The stores of the page, in vanilla zustand: without React and DOM.
import { createStore } from "zustand/vanilla";
import { toFailure } from "../api/failure";
import type { ChannelID, DoctorReport, Failure, LoopEvent, Theme } from "../api/types";
import type { FrameState } from "./frame";
import { emptyFrame } from "./frame";
import type { Outbox } from "./outbox";
import type { RuleDraft } from "./rule-draft";
import type { Seen } from "./seen";
import type { TimelineState } from "./timeline/state";
import { emptyTimeline } from "./timeline/state";

export type Connection =
  | { state: "connecting" }
  | { state: "online" }
  | { state: "offline"; since: number; retryAt: number }
  | { state: "denied" };

export type ConnectionStore = Connection & { snapshotFailure: Failure | null };

export const connectionStore = createStore<ConnectionStore>(() => ({ state: "connecting", snapshotFailure: null }) as ConnectionStore);
export const frameStore = createStore<FrameState>(() => emptyFrame);
export const seenStore = createStore<{ seen: Seen }>(() => ({ seen: null }));
export const outboxStore = createStore<{ letters: Outbox }>(() => ({ letters: [] }));

/** Listeners that get every batch of events, after the stores have applied it. */
export const batchListeners = new Set<(batch: LoopEvent[]) => void>();

/** Text in the prompt boxes, by channel. */
export const draftsStore = createStore<Record<ChannelID, string>>(() => ({}));

/** Whether the prompt in the box is to be planned first, by channel. */
export const plansStore = createStore<Record<ChannelID, boolean>>(() => ({}));

export type DoctorState = { phase: "none" | "running" | "done" | "error"; report: DoctorReport | null; failure: Failure | null; at: number; fixing: string | null };
export const doctorStore = createStore<DoctorState>(() => ({ phase: "none", report: null, failure: null, at: 0, fixing: null }));

/** Timelines of the channels that were shown. Other channels need no memory. */
export const timelinesStore = createStore<Record<ChannelID, TimelineState>>(() => ({}));

export function timelineOf(all: Record<ChannelID, TimelineState>, id: ChannelID): TimelineState {
  return all[id] ?? emptyTimeline;
}

export function setTimeline(id: ChannelID, change: (t: TimelineState) => TimelineState) {
  const all = timelinesStore.getState();
  const before = timelineOf(all, id);
  const after = change(before);
  if (after !== before) timelinesStore.setState({ [id]: after });
}

export type Dialog = "" | "palette" | "settings" | "folder" | "doctor" | "file" | "image" | "rename" | "choices" | "remove" | "worktree" | "sessions" | "shortcuts" | "recordings" | "setup" | "find" | "keys" | "themes" | "toolchain" | "output";

/** What can be done about what a message says. */
export type ToastAction = { name: string; run(): void };

export type ViewState = {
  selected: ChannelID; // "" is the welcome page, or what page says
  page: "" | "containers" | "desk"; // a panel that is shown alone, because there is no channel to show it in
  dialog: Dialog;
  dialogChannel: ChannelID;
  buildFailure: Failure | null; // why the build of the image that was asked for did not begin or end, while its dialog is open
  sidebarOpen: boolean; // where it is narrow: it lies over the page
  narrow: "" | "rail" | "none"; // what stands in the sidebar's place where there is no room for it
  theme: string;
  look: Theme | null; // the imported theme that theme names
  contrast: string; // "more", or "" for the system's choice
  toast: { id: number; text: string; tone: "info" | "fail"; failure: Failure | null; action?: ToastAction } | null;
};

/** Words for a screen reader, besides the states of channels. times tells equal texts apart. */
export const announceStore = createStore(() => ({ text: "", times: 0 }));

/** Has a screen reader say a text, even the same one again. */
export const announce = (text: string) => announceStore.setState((a) => ({ text, times: a.times + 1 }));

/**
 * Where the person is in the queue of what waits. to: the part of the page that is to show it
 * and give it the keyboard. A part that comes later than until leaves it, as the person has
 * gone on.
 */
export type StopState = { at: string; to: "" | "timeline" | "panel"; until: number };
export const stopStore = createStore<StopState>(() => ({ at: "", to: "", until: 0 }));

/** A rule that another part of the page has begun, until the rules panel of that channel takes it into its editor. */
export const begunRuleStore = createStore<{ channel: ChannelID; draft: RuleDraft | null }>(() => ({ channel: "", draft: null }));

/** An address that the browser of a channel is to open, until its panel takes it. */
export const browserVisitStore = createStore<{ channel: ChannelID; url: string }>(() => ({ channel: "", url: "" }));

/** The file of this computer that the dialog “file” shows. */
export const shownFileStore = createStore(() => ({ channel: "", path: "", line: 0 }));

export const viewStore = createStore<ViewState>(() => ({
  selected: "", page: "", dialog: "", dialogChannel: "", buildFailure: null, sidebarOpen: true, narrow: "", theme: "system", look: null, contrast: "", toast: null,
}));

let toasts = 0;

/** Shows a message for a moment, longer if something can be done about it. A failure stays until the person closes it. */
export function toast(text: string, failure: Failure | null = null, action?: ToastAction) {
  viewStore.setState({ toast: { id: ++toasts, text, tone: failure ? "fail" : "info", failure, ...(action ? { action } : {}) } });
}

export function toastFailure(err: unknown) {
  const f = toFailure(err);
  toast(f.cause, f);
}
