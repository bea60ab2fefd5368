// Loads the frames of runs when a part of the page shows them, and keeps them up to date.
import { useEffect, useState } from "react";
import { fetchFrame } from "../api/frames";
import { toFailure } from "../api/failure";
import type { Failure, KeptFrame, LoopEvent, RunID } from "../api/types";
import { footageOf, footageStore, noFootage, unjoined } from "../model/footage";
import { batchListeners } from "../model/stores";
import { session } from "./session";

const AGAIN_MS = 300; // several frames in a row are one reading
const KEPT = 160; // pictures in memory

const due = new Map<RunID, ReturnType<typeof setTimeout>>();

/** Reads the frames of a run unless they are known. */
export function wantFootage(run: RunID) {
  if (footageStore.getState()[run]) return;
  footageStore.setState({ [run]: noFootage });
  void read(run);
}

export async function readFootage(run: RunID) {
  footageStore.setState((all) => ({ [run]: { ...(all[run] ?? noFootage), phase: "loading", failure: null } }));
  await read(run);
}

async function read(run: RunID) {
  try {
    const frames = (await session().api.footage.frames(run)) ?? [];
    footageStore.setState({ [run]: footageOf(frames) });
  } catch (err) {
    footageStore.setState((all) => ({ [run]: { ...(all[run] ?? noFootage), phase: "error", failure: toFailure(err) } }));
  }
}

function onEvents(batch: LoopEvent[]) {
  for (const ev of batch) {
    const run = ev.run_id ?? "";
    const known = footageStore.getState()[run];
    if (!known || due.has(run)) continue;
    const late = (ev.type === "tool.use" || ev.type === "tool.result") && unjoined(known);
    if (ev.type !== "browser.frame" && !late) continue;
    due.set(run, setTimeout(() => {
      due.delete(run);
      void read(run);
    }, AGAIN_MS));
  }
}

batchListeners.add(onEvents);

/** Addresses of pictures in memory, the one that was used last at the end. */
const pictures = new Map<string, Promise<string>>();

function pictureOf(id: number, name: string): Promise<string> {
  const had = pictures.get(name);
  if (had) {
    pictures.delete(name);
    pictures.set(name, had);
    return had;
  }
  const made = session().endpoint().then((at) => fetchFrame(at, id, name)).then((blob) => URL.createObjectURL(blob));
  pictures.set(name, made);
  made.catch(() => pictures.delete(name)); // the next one tries again
  for (const [old, url] of pictures) {
    if (pictures.size <= KEPT) break;
    pictures.delete(old);
    void url.then((u) => URL.revokeObjectURL(u), () => {});
  }
  return made;
}

export type Picture = { url: string; failure: Failure | null };

/** The picture of a frame, as an address that an image can have. Both empty: it is on its way. steady: until then the one before stays. */
export function usePicture(f: KeptFrame | undefined, steady = false): Picture {
  const [got, setGot] = useState<Picture & { of: string }>({ of: "", url: "", failure: null });
  const [id, of] = [f?.frame_id ?? 0, f?.picture ?? ""];
  useEffect(() => {
    if (!of) return;
    let gone = false;
    pictureOf(id, of).then((url) => gone || setGot({ of, url, failure: null }), (err: unknown) => gone || setGot({ of, url: "", failure: toFailure(err) }));
    return () => {
      gone = true;
    };
  }, [of, id]);
  if (f && !of) return { url: "", failure: { code: "not_found", cause: f.why || "No picture was taken.", remedy: "" } };
  return got.of === of || steady ? got : { url: "", failure: null };
}
