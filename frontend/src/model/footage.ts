// Pictures of what runs did in their browsers: which there are, and where things are on them.
import { createStore } from "zustand/vanilla";
import type { Failure, KeptFrame, RunID } from "../api/types";

/** The frames of one run, by time. calls: the frame of each tool call. */
export type RunFootage = { phase: "loading" | "ready" | "error"; frames: KeptFrame[]; calls: Record<string, KeptFrame>; failure: Failure | null };

export const footageStore = createStore<Record<RunID, RunFootage>>(() => ({}));

export const noFootage: RunFootage = { phase: "loading", frames: [], calls: {}, failure: null };

export function footageOf(frames: KeptFrame[]): RunFootage {
  const calls: Record<string, KeptFrame> = {};
  for (const f of frames) if (f.tool_use_id) calls[f.tool_use_id] = f;
  return { phase: "ready", frames, calls, failure: null };
}

/** Whether an act has no tool call yet: the agent may tell of it a moment later. */
export const unjoined = (f: RunFootage): boolean => f.frames.some((x) => x.kind === "act" && !x.tool_use_id);

/** A place on a picture, in parts of its width and height. */
export type Place = { x: number; y: number; width: number; height: number };

/** Where the target of an act is on its picture; null where nothing of it is in sight. */
export function targetPlace(f: KeptFrame): Place | null {
  const { target: t, view_width: w = 0, view_height: h = 0 } = f;
  if (!t || w <= 0 || h <= 0 || ![t.x, t.y, t.width, t.height].every(Number.isFinite)) return null;
  if (t.x === 0 && t.y === 0 && t.width === 0 && t.height === 0) return null; // an act without a place
  const from = { x: Math.max(0, t.x), y: Math.max(0, t.y) };
  const to = { x: Math.min(w, t.x + t.width), y: Math.min(h, t.y + t.height) };
  if (to.x < from.x || to.y < from.y) return null;
  return { x: from.x / w, y: from.y / h, width: (to.x - from.x) / w, height: (to.y - from.y) / h };
}

const NARROWEST = 340; // CSS pixels of the page that a thumbnail shows at least
const AROUND = 1.5;

/** The part of a picture that a thumbnail shows, round its target. shape: width over height of the thumbnail. */
export function cropOf(f: KeptFrame, shape: number): Place {
  const w = f.view_width || f.width || 1;
  const h = f.view_height || f.height || 1;
  const widest = Math.min(w, h * shape); // all of the page's width, or of its height
  const at = targetPlace(f);
  const width = at ? Math.min(widest, Math.max(NARROWEST, at.width * w * AROUND, at.height * h * AROUND * shape)) : widest;
  const height = width / shape;
  const middle = at ? { x: (at.x + at.width / 2) * w, y: (at.y + at.height / 2) * h } : { x: w / 2, y: 0 };
  const within = (v: number, most: number) => Math.max(0, Math.min(v, most));
  return { x: within(middle.x - width / 2, w - width) / w, y: within(middle.y - height / 2, h - height) / h, width: width / w, height: height / h };
}

const WHO: Record<string, string> = { agent: "Claude drove", person: "You drove", nobody: "Nobody drove" };
export const driverWords = (f: KeptFrame): string => WHO[f.driver] ?? "";

/** What happened at a frame, in words. */
export function frameWords(f: KeptFrame): string {
  switch (f.kind) {
    case "take":
      return "You took over";
    case "give":
      return "You gave back";
    case "page":
      return "The page changed";
    default: {
      const deed = f.deed || (f.action ?? "").replaceAll("_", " ");
      return `Claude ${deed}${f.failed ? ", which failed" : ""}`;
    }
  }
}

/** An address without what every address has. */
export const shortAddress = (url: string): string => url.replace(/^https?:\/\//i, "").replace(/\/$/, "");
