// Pictures of the prompts that are being written. Loop has their bytes; the page keeps which they are.
import { toFailure } from "../api/failure";
import type { Attachment, ChannelID, Failure } from "../api/types";
import { isPicture, MOST_PICTURES, parsePictures, picturesStore } from "../model/pictures";
import { loadChoice, saveChoice } from "../shell/memory";
import type { Item } from "./bring";
import { contentOf, itemName } from "./bring";
import { session } from "./session";

const key = (id: ChannelID) => `pictures.${id}`;

const kept = new Map<ChannelID, Attachment[]>(); // one list for each, which a store can compare

export function picturesOf(all: Record<ChannelID, Attachment[]>, id: ChannelID): Attachment[] {
  const here = all[id] ?? kept.get(id);
  if (here) return here;
  const before = parsePictures(loadChoice(key(id)));
  kept.set(id, before);
  return before;
}

export function setPictures(id: ChannelID, all: Attachment[]) {
  picturesStore.setState({ [id]: all });
  saveChoice(key(id), all.length > 0 ? JSON.stringify(all) : "");
}

/** Takes a picture out of the draft, and tells Loop so once: it keeps one for as long as a draft may have it. */
export function removePicture(id: ChannelID, picture: string) {
  const all = picturesOf(picturesStore.getState(), id);
  if (!all.some((a) => a.id === picture)) return;
  // Another window with the same draft may have taken it out, and told so.
  const had = parsePictures(loadChoice(key(id))).some((a) => a.id === picture);
  setPictures(id, all.filter((a) => a.id !== picture));
  if (had) dropPicture(id, picture);
}

export function takesAsPicture(i: Item): boolean {
  return "path" in i ? isPicture(i.path) : isPicture(i.file.name, i.file.type);
}

/** Gives Loop a picture that is to go with the prompt; keepPicture or dropPicture has to follow. Rejects with a Failure. */
export async function bringPicture(id: ChannelID, i: Item): Promise<Attachment | null> {
  const { files } = session().api;
  if (picturesOf(picturesStore.getState(), id).length >= MOST_PICTURES) throw tooMany();
  try {
    return "path" in i ? await files.attachFile(id, i.path) : await files.attach(id, itemName(i), await contentOf(i.file, itemName(i)));
  } catch (err) {
    throw toFailure(err);
  }
}

/** Puts a picture that Loop has into the draft. */
export function keepPicture(id: ChannelID, a: Attachment) {
  const now = picturesOf(picturesStore.getState(), id);
  if (!now.some((b) => b.id === a.id)) setPictures(id, [...now, a]);
}

/** Tells Loop that a picture goes into no draft. */
export function dropPicture(id: ChannelID, picture: string) {
  session().api.files.detach(id, picture).catch(() => {}); // then it stays
}

const tooMany = (): Failure => ({ code: "invalid_input", cause: `${MOST_PICTURES} pictures go with one prompt at most.`, remedy: "Take one out, or send two prompts." });
