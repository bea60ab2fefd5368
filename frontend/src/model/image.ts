// How the agent image stands, in words.
import type { ImageStatus } from "../api/types";
import { visible } from "./text";

/** What is missing, and what brings it. Loop builds its own image; one that the settings name comes from elsewhere. */
export function missingImage(i: ImageStatus): { cause: string; remedy: string | undefined } {
  if (i.failure) return { cause: i.failure.cause, remedy: i.failure.remedy };
  if (i.theirs) return { cause: `The image ${visible(i.ref)} is not there yet.`, remedy: i.note };
  return { cause: "There is no agent image yet.", remedy: "The first run builds it, which takes some minutes." };
}

/** The state of the image, as its dialog calls it. */
export function imageWord(i: ImageStatus): string {
  if (i.theirs && i.state === "missing") return "Not there yet";
  return { unknown: "Not known yet", missing: "Not built yet", stale: "Out of date: made by another version of Loop", ready: "Ready", building: "Building" }[i.state];
}

/** What the status bar calls an image that cannot be used as it is. */
export function imageTrouble(i: ImageStatus): string {
  if (i.failure) return i.theirs ? "image is not there" : "image build failed";
  return i.state === "missing" ? "no agent image yet" : "agent image is out of date";
}
