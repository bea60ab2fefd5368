// What was typed and not sent, per channel; it survives a reload.
import type { ChannelID } from "../../api/types";
import { draftsStore } from "../../model/stores";
import { loadDraft, saveDraft } from "./memory";

export function draftOf(all: Record<ChannelID, string>, id: ChannelID): string {
  return all[id] ?? loadDraft(id);
}

export function setDraft(id: ChannelID, text: string) {
  draftsStore.setState({ [id]: text });
  saveDraft(id, text);
}
