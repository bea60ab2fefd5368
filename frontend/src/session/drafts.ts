// Drafts: text that was typed but not sent, and whether it is to be planned first, for each channel. They survive a reload.
import type { ChannelID } from "../api/types";
import { duration } from "../model/format";
import type { Letter } from "../model/outbox";
import { MOST_PICTURES, picturesStore } from "../model/pictures";
import { draftsStore, plansStore, toast } from "../model/stores";
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

/** Puts an unsent prompt back, before what was typed since. The box has no place for a delay, so its loss is said. */
export function takeBack({ channelId, prompt, options }: Letter) {
  const typed = draftOf(draftsStore.getState(), channelId);
  setDraft(channelId, typed ? `${prompt}\n\n${typed}` : prompt);
  if (options?.plan) setPlan(channelId, true);
  if (options?.attachments) setPictures(channelId, [...options.attachments, ...picturesOf(picturesStore.getState(), channelId)].slice(0, MOST_PICTURES));
  if (options?.delay_seconds) toast(`The prompt was to go out after ${duration(options.delay_seconds * 1000)}. Choose the time again when you send it.`);
}
