// Drafts: text that was typed but not sent, for each channel. They survive a reload.
import type { ChannelID } from "../api/types";
import { draftsStore } from "../model/stores";
import { loadChoice, saveChoice } from "../shell/memory";

export function draftOf(all: Record<ChannelID, string>, id: ChannelID): string {
  return all[id] ?? loadChoice(`draft.${id}`);
}

export function setDraft(id: ChannelID, text: string) {
  draftsStore.setState({ [id]: text });
  saveChoice(`draft.${id}`, text);
}
