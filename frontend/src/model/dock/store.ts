// The stores of the centre, in vanilla zustand as in model/stores.ts.
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../../api/types";
import type { Sessions } from "../terminals/sessions";
import { noSessions } from "../terminals/sessions";
import type { GroupID, Layout, PanelID, Side } from "./layout";

/** Layouts of the channels that were shown. */
export const layoutsStore = createStore<Record<ChannelID, Layout>>(() => ({}));

export const sessionsStore = createStore<Sessions>(() => noSessions);

export type DropAt = { group: GroupID; side: Side | "" } | { group: GroupID; at: number; x: number };

export type DockUi = {
  keyboard: PanelID; // the terminal that has, or is to have, the keyboard
  renaming: PanelID;
  closing: PanelID; // the panel whose question about closing is open
  menu: PanelID; // the panel whose tab has its menu open
  arranging: boolean;
  broadcast: boolean;
  drag: { panel: PanelID; x: number; y: number; over: DropAt | null } | null;
  said: string; // words for a screen reader
};

export const idleDock: DockUi = { keyboard: "", renaming: "", closing: "", menu: "", arranging: false, broadcast: false, drag: null, said: "" };
export const dockUi = createStore<DockUi>(() => idleDock);
