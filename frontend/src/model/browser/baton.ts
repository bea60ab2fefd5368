// Who drives the browser of each channel that a pane shows: the prompt box gives back with what it sends.
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../../api/types";

/** Stored layouts name the panel by this word, which therefore never changes. */
export const BROWSER_PANEL = "browser";

export type Baton = { person: boolean; waits: boolean; give(): void };

export const batonStore = createStore<Record<ChannelID, Baton | undefined>>(() => ({}));

/** Whether sending a prompt also gives the browser back: the person drives, and the agent waits for that. */
export const givesBack = (all: Record<ChannelID, Baton | undefined>, id: ChannelID) => Boolean(all[id]?.person && all[id].waits);
