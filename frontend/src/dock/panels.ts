// Kinds of panels. A kind is a value of the type PanelKind, registered once when the page
// starts. Tabs, menus, keys, the palette and stored layouts ask the kind. Nothing else in
// the dock knows the content of a panel.
import type { ReactNode } from "react";
import { useMemo, useSyncExternalStore } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../api/types";
import type { GroupID, NewPanel, Panel } from "../model/dock/layout";
import type { Codec } from "../model/dock/stored";
import type { Place } from "../model/keys/table";

/** The words and marks of a panel's tab. */
export type Face = {
  title: string; // may be an agent's text, so SafeText shows it
  detail: string; // for the tooltip
  state: "" | "running" | "away" | "ended";
  unread: boolean;
  bell: boolean;
  recording: boolean;
};

export const quietFace: Face = { title: "", detail: "", state: "", unread: false, bell: false, recording: false };

/** A command of a kind of panel, or of one panel. */
export type PanelCommand = {
  id: string; // unique among the commands of its kind
  name: string; // for the palette
  label?: ReactNode; // for menus; a command without it is in no menu
  apart?: boolean; // a line stands before its item
  hidden?: boolean; // it opens a session that has no panel
  icon: ReactNode;
  hint?: string; // its key
  disabled?: boolean;
  danger?: boolean;
  run(): void;
};

export type PanelKeys = {
  place: Place | (string & {}); // in the table of keys, or a heading of its own in the list of shortcuts
  rows(): { keys: string; does: string }[]; // keys that stay as they are
  /** Handles a key that no panel took. True if the key belongs to this kind. */
  press?(e: KeyboardEvent): boolean;
};

/** A kind of panel. Stored layouts name it by its field kind, which therefore never changes. */
export type PanelKind<Data = unknown> = Codec<Data> & {
  kind: string;
  noun: string; // for sentences: “Close the terminal”
  /** Draws the body. It stays mounted while another tab of its group is in front. */
  render(at: { channelId: ChannelID; panel: Panel<Data> }): ReactNode;
  /** Title and state of the tab. The kind calls panelsChanged when they may have changed. */
  face(panel: Panel<Data>): Face;
  icon(panel: Panel<Data>, size: number): ReactNode;
  /** Draws tools in the strip, while the panel is in front. */
  tools?(channelId: ChannelID): ReactNode;
  keys?: PanelKeys;
  /** Commands that open panels, for the palette and a group's plus button. group "": the best place. */
  opens?(channelId: ChannelID, group: GroupID): PanelCommand[];
  /** Commands for the panel in front, for its menu and the palette. The dock adds the one that closes it. */
  acts?(panel: Panel<Data>): PanelCommand[];
  /** Gives the panel the keyboard. Without this method the first element of the body that takes the focus gets it. */
  focus?(panel: Panel<Data>): void;
  /** Whether a click on the tab gives the panel the keyboard. Else the tab keeps it. */
  enters?: boolean;
  /** Ends the panel's session, and asks first if something may be lost. Without this method the panel just closes. */
  close?(panel: Panel<Data>): void;
  /** The panel that a split puts beside it. For a kind without this method the first kind with one gets null. */
  beside?(panel: Panel<Data> | null): NewPanel;
  /** The panel's name and the function that changes it. null: it cannot be renamed now. */
  rename?(panel: Panel<Data>): { what: string; name: string; placeholder: string; save(name: string): void } | null;
  /** Takes text typed into another panel, while typing goes to all visible ones. */
  type?(panel: Panel<Data>, data: string | Uint8Array): void;
  /** Whether the panel acts on this computer, outside any container. Its tab says so. */
  onHost?(panel: Panel<Data>): boolean;
};

const kinds = new Map<string, PanelKind>();

/** Registers kinds. Throws if a name is taken: that is a mistake in the program. */
export function register(list: readonly PanelKind[]) {
  for (const k of list) {
    if (kinds.has(k.kind)) throw new Error(`two kinds of panel are called ${k.kind}`);
    kinds.set(k.kind, k);
  }
}

export const allKinds = (): PanelKind[] => [...kinds.values()];

export const kindNamed = (kind: string): PanelKind | undefined => kinds.get(kind);

/** The kind of a panel. It exists, because layouts hold only panels of registered kinds (model/dock/stored.ts). */
export function kindOf(panel: Panel): PanelKind {
  const k = kinds.get(panel.kind);
  if (!k) throw new Error(`no kind of panel is called ${panel.kind}`);
  return k;
}

/** Types a kind by its data, and adds the test whether a panel is of this kind. */
export function panelKind<Data>(k: PanelKind<Data>): PanelKind<Data> & { is(p: Panel | undefined): p is Panel<Data> } {
  return { ...k, is: (p): p is Panel<Data> => p?.kind === k.kind };
}

const changes = createStore(() => ({ times: 0 }));

/** Has the dock ask again: the faces of panels, or the commands of a kind, may have changed. */
export const panelsChanged = () => changes.setState((o) => ({ times: o.times + 1 }));

export const usePanelChanges = () => useStore(changes);

export function useFace(panel: Panel): Face {
  // A face is made anew each time, so it is compared as text.
  const read = () => JSON.stringify(kindOf(panel).face(panel));
  const now = useSyncExternalStore(changes.subscribe, read, read);
  return useMemo(() => JSON.parse(now) as Face, [now]);
}
