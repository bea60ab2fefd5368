// What the page remembers by itself: drafts, unsent prompts, the chosen channel.
// Storage may be full or switched off; then the page works without memory.
import type { Outbox } from "../../model/outbox";
import { parseOutbox } from "../../model/outbox";

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string) {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // Nothing to do: the text is still on the screen.
  }
}

export const loadDraft = (channel: string) => read(`loop.draft.${channel}`) ?? "";
export const saveDraft = (channel: string, text: string) => write(`loop.draft.${channel}`, text);
export const loadOutbox = () => parseOutbox(read("loop.outbox"));
export const saveOutbox = (box: Outbox) => write("loop.outbox", box.length > 0 ? JSON.stringify(box) : "");
export const loadChoice = (name: string) => read(`loop.${name}`) ?? "";
export const saveChoice = (name: string, value: string) => write(`loop.${name}`, value);
