// Pictures that go with a prompt: which files are some, and those of the prompts that are being written.
import { createStore } from "zustand/vanilla";
import type { Attachment, ChannelID } from "../api/types";

/** Of one prompt, as Loop says as well. */
export const MOST_PICTURES = 20;

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const NAMES = /\.(png|jpe?g|gif|webp)$/i;

/** Whether a file is one that the model takes as a picture, by its type, or by its name where it has none. */
export function isPicture(name: string, type = ""): boolean {
  return type ? TYPES.has(type) : NAMES.test(name);
}

export const picturesStore = createStore<Record<ChannelID, Attachment[]>>(() => ({}));

/** What was kept of a prompt's pictures; none where it cannot be read. */
export function parsePictures(json: string): Attachment[] {
  if (!json) return [];
  try {
    const all: unknown = JSON.parse(json);
    if (!Array.isArray(all)) return [];
    return all.filter((a): a is Attachment => typeof a?.id === "string" && typeof a?.name === "string" && typeof a?.type === "string").slice(0, MOST_PICTURES);
  } catch {
    return [];
  }
}

/** Of a picture that is drawn small: a few kilobytes may be unpacked to 256 MB for it. */
const MOST_POINTS = 40_000_000;

export const tooLarge = (a: Attachment): boolean => a.width * a.height > MOST_POINTS;

/** "2 pictures". */
export function countOf(all: readonly unknown[]): string {
  return all.length === 1 ? "1 picture" : `${all.length} pictures`;
}
