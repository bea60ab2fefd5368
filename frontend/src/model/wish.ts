// What the prompt in the box asks for, over what its channel has: it counts for that prompt alone.
import { createStore } from "zustand/vanilla";
import type { ChannelID, PromptOptions } from "../api/types";

export type Wish = { model: string; effort: string; fresh: boolean };

export const NO_WISH: Wish = { model: "", effort: "", fresh: false };

/** The wishes of the prompt boxes, by channel. */
export const wishesStore = createStore<Record<ChannelID, Wish>>(() => ({}));

/** The options with which a prompt is sent. */
export function wishOptions({ model, effort, fresh }: Wish): PromptOptions {
  return { ...(model ? { model } : {}), ...(effort ? { effort } : {}), ...(fresh ? { session: { mode: "fresh" } } : {}) };
}

/** The wish with that of an unsent prompt. */
export function withOptions(wish: Wish, options: PromptOptions): Wish {
  return { model: options.model || wish.model, effort: options.effort || wish.effort, fresh: options.session?.mode === "fresh" || wish.fresh };
}

/** The text that keeps a wish over a reload; empty for none. */
export const wishText = (w: Wish): string => (w.model || w.effort || w.fresh ? JSON.stringify(w) : "");

const parsed = new Map<string, Wish>([["", NO_WISH]]);

/** Reads what wishText wrote. The same text gives the same value, which React relies on. */
export function parseWish(text: string): Wish {
  const wish = parsed.get(text) ?? read(text);
  parsed.set(text, wish);
  return wish;
}

function read(text: string): Wish {
  try {
    const v = JSON.parse(text) as Partial<Wish> | null;
    const word = (x: unknown) => (typeof x === "string" ? x : "");
    return { model: word(v?.model), effort: word(v?.effort), fresh: v?.fresh === true };
  } catch {
    return NO_WISH;
  }
}
