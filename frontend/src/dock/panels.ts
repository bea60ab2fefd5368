// Kinds of panels. A panel is a value of this type, registered once when the page
// starts: tabs, menus, keys, the palette and the stored layouts all ask here, and
// nothing else of the dock knows what a panel shows.
import type { ReactNode } from "react";
import { useMemo, useSyncExternalStore } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../api/types";
import type { GroupID, NewPanel, Panel } from "../model/dock/layout";
import type { Codec } from "../model/dock/stored";

/** What a tab says of its panel. */
export type Face = {
  title: string; // as text of the agent's may be: it is shown through SafeText
  detail: string; // for the tooltip
  state: "" | "running" | "away" | "ended";
  unread: boolean;
  bell: boolean;
  recording: boolean;
};

export const quietFace: Face = { title: "", detail: "", state: "", unread: false, bell: false, recording: false };

/** Something to do with a kind of panel, or with one panel. */
export type PanelCommand = {
  id: string; // among those of its kind
  name: string; // in the palette
  label?: ReactNode; // in a menu; without one it is in none
  apart?: boolean; // a line stands before it in a menu
  hidden?: boolean; // it shows what goes on without a panel
  icon: ReactNode;
  hint?: string; // its key
  disabled?: boolean;
  danger?: boolean;
  run(): void;
};

export type PanelKeys = {
  heading: string; // in the list of shortcuts
  rows(): { keys: string; does: string }[];
  /** A key that no panel took: true if it is one of this kind's. */
  press?(e: KeyboardEvent): boolean;
};

/** Keys, tabs and layouts name it by kind, which therefore never changes. */
export type PanelKind<Data = unknown> = Codec<Data> & {
  kind: string;
  noun: string; // in sentences: “Close the terminal”
  /** The body. It stays mounted while another tab of its group is in front. */
  render(at: { channelId: ChannelID; panel: Panel<Data> }): ReactNode;
  /** Title and state of its tab; panelsChanged says when they may be others. */
  face(panel: Panel<Data>): Face;
  icon(panel: Panel<Data>, size: number): ReactNode;
  /** In the strip, while its tab is in front. */
  tools?(channelId: ChannelID): ReactNode;
  keys?: PanelKeys;
  /** Commands that open panels: for the plus button of a group ("": where it fits best) and the palette. */
  opens?(channelId: ChannelID, group: GroupID): PanelCommand[];
  /** Commands for the panel in front: for its menu and the palette. To close it is always among them. */
  acts?(panel: Panel<Data>): PanelCommand[];
  /** Takes the keyboard. Without it the body's first place for the focus does. */
  focus?(panel: Panel<Data>): void;
  /** A click on its tab gives it the keyboard; else that stays with the tab. */
  enters?: boolean;
  /** Ends what it shows, and asks first where something may be lost. Without it the panel just goes. */
  close?(panel: Panel<Data>): void;
  /** What a split puts beside it; the first kind that has this also serves those without, with null. */
  beside?(panel: Panel<Data> | null): NewPanel;
  /** Its name and how it is changed; null: not now. */
  rename?(panel: Panel<Data>): { what: string; name: string; placeholder: string; save(name: string): void } | null;
  /** Takes what is typed into another panel, while all visible ones do. */
  type?(panel: Panel<Data>, data: string | Uint8Array): void;
  /** It acts on this computer, outside any container; its tab says so. */
  onHost?(panel: Panel<Data>): boolean;
};

const kinds = new Map<string, PanelKind>();

/** A second kind of that name is a mistake of the program's. */
export function register(list: readonly PanelKind[]) {
  for (const k of list) {
    if (kinds.has(k.kind)) throw new Error(`two kinds of panel are called ${k.kind}`);
    kinds.set(k.kind, k);
  }
}

export const allKinds = (): PanelKind[] => [...kinds.values()];

export const kindNamed = (kind: string): PanelKind | undefined => kinds.get(kind);

/** Layouts hold panels of registered kinds only (model/dock/stored.ts). */
export function kindOf(panel: Panel): PanelKind {
  const k = kinds.get(panel.kind);
  if (!k) throw new Error(`no kind of panel is called ${panel.kind}`);
  return k;
}

/** Keeps the types of one kind together, and says which panels are its own. */
export function panelKind<Data>(k: PanelKind<Data>): PanelKind<Data> & { is(p: Panel | undefined): p is Panel<Data> } {
  return { ...k, is: (p): p is Panel<Data> => p?.kind === k.kind };
}

const changes = createStore(() => ({ times: 0 }));

/** What a kind says of its panels, or offers to open, may have changed. */
export const panelsChanged = () => changes.setState((o) => ({ times: o.times + 1 }));

export const usePanelChanges = () => useStore(changes);

export function useFace(panel: Panel): Face {
  // As text it can be compared: a face is made anew each time.
  const read = () => JSON.stringify(kindOf(panel).face(panel));
  const now = useSyncExternalStore(changes.subscribe, read, read);
  return useMemo(() => JSON.parse(now) as Face, [now]);
}
