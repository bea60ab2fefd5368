// Files that a prompt is likely to name: those of the last run, those that were opened here, and those of earlier prompts.
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../api/types";
import { mentionsIn } from "./mention";
import { relativeTo } from "./text";
import type { Built } from "./timeline/items";

export type Recent = { path: string; why: string };

export type Opened = { path: string; at: number };
const MOST_OPENED = 30;
const MOST = 40;

/** Files that the person opened in this visit, newest first, by channel. */
export const openedStore = createStore<Record<ChannelID, Opened[]>>(() => ({}));

export function fileOpened(id: ChannelID, path: string, at: number) {
  const before = openedStore.getState()[id] ?? [];
  openedStore.setState({ [id]: [{ path, at }, ...before.filter((o) => o.path !== path)].slice(0, MOST_OPENED) });
}

function ago(ms: number): string {
  const min = Math.floor(ms / 60_000);
  return min < 1 ? "you opened it just now" : min < 60 ? `you opened it ${min} min ago` : `you opened it ${Math.floor(min / 60)} h ago`;
}

/** The recent files of a channel, by their paths below its folder, each with the reason. */
export function recentFiles(built: Built, opened: readonly Opened[], dir: string, now: number): Recent[] {
  const out = new Map<string, string>();
  const add = (path: string, why: string) => {
    const rel = relativeTo(path, dir);
    if (rel && !rel.startsWith("/") && !out.has(rel)) out.set(rel, why);
  };
  const last = Object.values(built.runs).findLast((r) => r.files.length > 0);
  for (const f of last?.files ?? []) add(f.path, "changed by the last run");
  for (const o of opened) add(o.path, ago(now - o.at));
  for (const it of built.items.toReversed()) {
    if (out.size >= MOST) break;
    if (it.kind === "prompt") for (const path of mentionsIn(it.text)) add(path, "named in an earlier prompt");
  }
  return [...out].slice(0, MOST).map(([path, why]) => ({ path, why }));
}
