// Unfinished answers, which are kept while the person looks at another channel.
import type { Draft } from "../model/questions";

const drafts = new Map<string, Draft>();

export function kept(id: string): Draft | undefined {
  return drafts.get(id);
}

export function keep(id: string, draft: Draft) {
  drafts.set(id, draft);
}

export function forget(id: string) {
  drafts.delete(id);
  texts.delete(id);
}

/** Unfinished changes to plans by question, and to waiting prompts by run. */
export const texts = new Map<string, string>();
