// Drafts: text that was typed but not sent, and how it is to be sent, for each channel. They survive a reload.
import type { ChannelID, PromptOptions } from "../api/types";
import { duration } from "../model/format";
import type { Letter } from "../model/outbox";
import { MOST_PICTURES, picturesStore } from "../model/pictures";
import { draftsStore, plansStore, toast } from "../model/stores";
import type { Wish } from "../model/wish";
import { parseWish, wishesStore, wishText, withOptions } from "../model/wish";
import { loadChoice, saveChoice } from "../shell/memory";
import { picturesOf, setPictures } from "./pictures";

export function draftOf(all: Record<ChannelID, string>, id: ChannelID): string {
  return all[id] ?? loadChoice(`draft.${id}`);
}

export function setDraft(id: ChannelID, text: string) {
  draftsStore.setState({ [id]: text });
  saveChoice(`draft.${id}`, text);
}

export function planOf(all: Record<ChannelID, boolean>, id: ChannelID): boolean {
  return all[id] ?? loadChoice(`plan.${id}`) !== "";
}

export function setPlan(id: ChannelID, plan: boolean) {
  plansStore.setState({ [id]: plan });
  saveChoice(`plan.${id}`, plan ? "first" : "");
}

export function wishIn(all: Record<ChannelID, Wish>, id: ChannelID): Wish {
  return all[id] ?? parseWish(loadChoice(`wish.${id}`));
}

/** Changes what the prompt in the box asks for, over what the channel has. */
export function setWish(id: ChannelID, part: Partial<Wish>) {
  const wish = { ...wishIn(wishesStore.getState(), id), ...part };
  wishesStore.setState({ [id]: wish });
  saveChoice(`wish.${id}`, wishText(wish));
}

/** Puts a prompt back into its box as it was to be sent, before what was typed since. */
export function putBack(id: ChannelID, prompt: string, options: PromptOptions) {
  const typed = draftOf(draftsStore.getState(), id);
  setDraft(id, typed && typed !== prompt ? `${prompt}\n\n${typed}` : prompt);
  setWish(id, withOptions(wishIn(wishesStore.getState(), id), options));
  if (options.plan) setPlan(id, true);
  const own = options.attachments ?? [];
  if (own.length > 0) setPictures(id, [...own, ...picturesOf(picturesStore.getState(), id).filter((a) => !own.some((b) => b.id === a.id))].slice(0, MOST_PICTURES));
}

/** Puts an unsent prompt back. The box has no place for a delay, so its loss is said. */
export function takeBack({ channelId, prompt, options }: Letter) {
  putBack(channelId, prompt, options ?? {});
  if (options?.delay_seconds) toast(`The prompt was to go out after ${duration(options.delay_seconds * 1000)}. Choose the time again when you send it.`);
}
