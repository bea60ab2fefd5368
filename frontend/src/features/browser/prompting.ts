// What goes from the page into the prompt: a screenshot, a picked element, an error.
import type { BrowserTarget } from "../../api/browser-messages";
import { pickedHere } from "../../model/browser/reference";
import { insertWord } from "../../model/files";
import { draftsStore, toast } from "../../model/stores";
import { focusPrompt } from "../../session/actions";
import { bring } from "../../session/bring";
import { draftOf, setDraft } from "../../session/drafts";
import { isFailure, toFailure } from "../../api/failure";
import type { BrowserPane } from "./pane";

function add(channelId: string, text: string) {
  const draft = draftOf(draftsStore.getState(), channelId);
  setDraft(channelId, insertWord(draft, draft.length, text).text);
}

/** Puts the picture of the page into the channel's folder of pastes, and its path into the prompt. */
export async function screenshotToPrompt(pane: BrowserPane) {
  const blob = await pane.picture();
  if (!blob) {
    toast("There is no picture of the page yet.");
    return;
  }
  try {
    add(pane.channelId, await bring(pane.channelId, { file: new File([blob], "page.png", { type: "image/png" }) }));
    toast("The screenshot's path is in the prompt.");
    focusPrompt();
  } catch (err) {
    toast("The screenshot was not added.", isFailure(err) ? err : toFailure(err));
  }
}

/** How an element is named in a prompt. */
export function elementWords(t: BrowserTarget): string {
  const name = t.name ? ` “${t.name.slice(0, 80)}”` : "";
  return `[${t.role || "element"}${name}${t.selector ? ` ${t.selector}` : ""}${t.ref ? ` ref ${t.ref}` : ""}]`;
}

/** Puts the picked element into the prompt, and ends the picking. */
export function elementToPrompt(pane: BrowserPane, t: BrowserTarget) {
  pane.store.setState({ picking: false, picked: null });
  const words = elementWords(t);
  pickedHere(pane.channelId, words, pane.store.getState().state);
  add(pane.channelId, words);
  focusPrompt();
}

export function errorToPrompt(pane: BrowserPane) {
  const last = pane.store.getState().lines.findLast((l) => l.level === "error");
  if (!last) return;
  add(pane.channelId, `The page's console says: ${last.text.slice(0, 2000)}${last.source ? ` (${last.source})` : ""}`);
  focusPrompt();
}

export function pathToPrompt(pane: BrowserPane, path: string) {
  add(pane.channelId, path);
  focusPrompt();
}
