// Files on their way into a prompt. When a file arrives, its path goes into the draft where
// the caret was, even if the person typed or went to another channel meanwhile.
import { flushSync } from "react-dom";
import { createStore } from "zustand/vanilla";
import { isFailure, toFailure } from "../../../api/failure";
import type { ChannelID, Failure } from "../../../api/types";
import { follow, insertWord } from "../../../model/files";
import { draftsStore } from "../../../model/stores";
import type { Item } from "../../../session/bring";
import { bring, itemName } from "../../../session/bring";
import { draftOf, setDraft } from "../../../session/drafts";
import { bringPicture, dropPicture, keepPicture, takesAsPicture } from "../../../session/pictures";

export type Attach = { name: string; nth: number; of: number; problems: Failure[] };
const NONE: Attach = { name: "", nth: 0, of: 0, problems: [] };

export const attachStore = createStore<Record<ChannelID, Attach>>(() => ({}));
export const attachOf = (all: Record<ChannelID, Attach>, id: ChannelID) => all[id] ?? NONE;
export const attaching = (id: ChannelID) => attachOf(attachStore.getState(), id).of > 0;

type Place = { draft: string; at: number };
type Job = { waiting: { item: Item; place: Place }[] };

const jobs = new Map<ChannelID, Job>();
const boxes = new Map<ChannelID, HTMLTextAreaElement>();

/** Registers the box whose caret must stay in place. The returned function forgets it. */
export function knowBox(id: ChannelID, box: HTMLTextAreaElement): () => void {
  boxes.set(id, box);
  return () => {
    if (boxes.get(id) === box) boxes.delete(id);
  };
}

function change(id: ChannelID, part: Partial<Attach>) {
  attachStore.setState((all) => ({ [id]: { ...attachOf(all, id), ...part } }));
}

const draft = (id: ChannelID) => draftOf(draftsStore.getState(), id);

function caret(id: ChannelID): Place {
  const text = draft(id);
  return { draft: text, at: Math.min(boxes.get(id)?.selectionEnd ?? text.length, text.length) };
}

export function attach(id: ChannelID, items: Item[]) {
  if (items.length === 0) return;
  const place = caret(id); // one place for all files: each comes behind the one before
  const all = items.map((item) => ({ item, place }));
  const job = jobs.get(id);
  const { of, problems } = attachOf(attachStore.getState(), id);
  change(id, { of: of + items.length, problems: job ? problems : [] });
  if (job) {
    job.waiting.push(...all);
    return;
  }
  const made = { waiting: all };
  jobs.set(id, made);
  void work(id, made);
}

async function work(id: ChannelID, job: Job) {
  for (let next = job.waiting.shift(); next; next = job.waiting.shift()) {
    const { item, place } = next;
    change(id, { name: itemName(item), nth: attachOf(attachStore.getState(), id).nth + 1 });
    try {
      if (takesAsPicture(item)) {
        const picture = await bringPicture(id, item);
        if (picture && jobs.get(id) === job) keepPicture(id, picture);
        else if (picture) dropPicture(id, picture.id);
        if (jobs.get(id) !== job) return; // the person gave up
        continue;
      }
      const word = await bring(id, item);
      if (jobs.get(id) !== job) return;
      if (word) put(id, place, word);
    } catch (err) {
      if (jobs.get(id) !== job) return;
      change(id, { problems: [...attachOf(attachStore.getState(), id).problems, isFailure(err) ? err : toFailure(err)] });
    }
  }
  giveUp(id);
}

/** Gives up the files that have not arrived yet. */
export function giveUp(id: ChannelID) {
  jobs.delete(id);
  change(id, { name: "", nth: 0, of: 0 });
}

export function dismiss(id: ChannelID, problem?: Failure) {
  const { problems } = attachOf(attachStore.getState(), id);
  change(id, { problems: problem ? problems.filter((p) => p !== problem) : [] });
}

/** Puts text into the draft at the caret. */
export function insertText(id: ChannelID, text: string) {
  put(id, caret(id), text);
}

function put(id: ChannelID, place: Place, word: string) {
  const now = draft(id);
  const from = follow(place.draft, now, place.at);
  const made = insertWord(now, from, word);
  const box = boxes.get(id);
  const [start, end] = [box?.selectionStart ?? 0, box?.selectionEnd ?? 0];
  Object.assign(place, { draft: made.text, at: made.at });
  // The box is drawn at once. A box drawn later would have its caret at the end, and a key
  // that comes in between would write there.
  flushSync(() => setDraft(id, made.text));
  const moved = (at: number) => (at >= from ? at + made.text.length - now.length : at);
  if (box && document.activeElement === box) box.setSelectionRange(moved(start), moved(end));
}
