// Elements of a page that a prompt names, and whether their numbers still count.
import { createStore } from "zustand/vanilla";
import type { BrowserState } from "../../api/browser-messages";
import type { ChannelID } from "../../api/types";

/** words: as they stand in the prompt. */
export type Reference = { words: string; label: string; ref: string };

const FORM = /\[(\S+(?: “[^\n]*?”)?)(?: [^\n]*?)? (ref \d+)\]/g;

/** The elements with a number that a text names, each once. */
export function referencesIn(text: string): Reference[] {
  const found = [...text.matchAll(FORM)].map(([words, label = "", ref = ""]) => ({ words, label, ref }));
  return found.filter((r, i) => found.findIndex((x) => x.words === r.words) === i);
}

/** A text without a reference, and without the blank behind it. */
export function withoutReference(text: string, words: string): string {
  return text.replaceAll(`${words} `, "").replaceAll(words, "");
}

/** Counts the documents of each tab: a page that is loaded again has other numbers. */
export type Documents = Record<string, { url: string; loading: boolean; count: number }>;

const bare = (url: string) => url.replace(/#.*$/, "");

export function seen(before: Documents, state: BrowserState): Documents {
  if (state.phase !== "running") return {};
  return Object.fromEntries(state.tabs.map((t) => {
    const was = before[t.target_id];
    const other = was && (bare(was.url) !== bare(t.url) || (t.loading && !was.loading));
    return [t.target_id, { url: t.url, loading: t.loading, count: (was?.count ?? 0) + (other ? 1 : 0) }];
  }));
}

/** A document of a browser; "" for one that is not there. */
export const documentOf = (d: Documents, tab: string): string => (d[tab] ? `${tab} ${d[tab].count}` : "");

/** What a channel's pane knows: the documents, and in which one each reference was picked. A reference of an earlier visit is in none. */
export type Picked = { documents: Documents; from: Record<string, string> };

export const pickedStore = createStore<Record<ChannelID, Picked | undefined>>(() => ({}));

/** Whether the document of a reference is gone, as far as the page knows. */
export function isStale(p: Picked | undefined, words: string): boolean {
  const from = p?.from[words];
  return Boolean(p && from !== undefined && !Object.keys(p.documents).some((tab) => documentOf(p.documents, tab) === from));
}

export function sawState(id: ChannelID, state: BrowserState) {
  pickedStore.setState((all) => {
    const p = all[id] ?? { documents: {}, from: {} };
    return { [id]: { ...p, documents: seen(p.documents, state) } };
  });
}

/** Notes that a reference was picked on the page that is shown. */
export function pickedHere(id: ChannelID, words: string, state: BrowserState | null) {
  const tab = state?.tabs.find((t) => t.active)?.target_id ?? "";
  pickedStore.setState((all) => {
    const p = all[id] ?? { documents: {}, from: {} };
    return { [id]: { ...p, from: { ...p.from, [words]: documentOf(p.documents, tab) } } };
  });
}
