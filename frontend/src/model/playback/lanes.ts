// A run on one clock: its turns, what the gate decided, the pages it saw, and its
// terminal. Times are milliseconds since the run began.
import type { KeptFrame } from "../../api/types";
import { verb } from "../gate";
import { visibleLine } from "../gate-text";
import { oneLine, stripColour } from "../text";
import { decidedLine, deniedCalls } from "../timeline/decided";
import type { EndItem, Item, RunInfo, ToolItem } from "../timeline/items";
import { describeTool, isChore } from "../timeline/tools";

export type TurnKind = "says" | "tool" | "you" | "done" | "failed";
export type Turn = { key: string; at: number; until: number; kind: TurnKind; words: string; result: string; failed: boolean };
export type Decision = { key: string; at: number; from: number; state: "allowed" | "denied" | "other"; words: string };
/** What the Bash tool was given and what it answered. */
export type Piece = { at: number; kind: "command" | "output" | "error"; text: string };
export type Picture = { at: number; frame: KeptFrame };

export type Playback = {
  began: number; // ms since the epoch
  length: number;
  prompt: string;
  end: EndItem | null;
  turns: Turn[];
  decisions: Decision[];
  pictures: Picture[];
  pieces: Piece[];
  rows: number[]; // when the items begin, in order
};

const SHORTEST = 300; // a run of no length cannot be played

/** now: of a run under way, which is as long as it has lasted; 0 of one that has ended. */
export function playbackOf(items: Item[], run: RunInfo | undefined, frames: KeptFrame[], dir: string, now = 0): Playback | null {
  if (items.length === 0) return null;
  const times = items.flatMap((it) => spanOf(it));
  const began = run?.startedAt || Math.min(...times);
  const end = items.findLast((it) => it.kind === "end") ?? null;
  const over = Math.max(...times, ...frames.map((f) => f.time), began + SHORTEST, now);
  const length = (end ? Math.max(end.at, began + SHORTEST) : over) - began;
  const rel = (at: number) => Math.max(0, Math.min(length, at - began));
  const byCall = new Map(frames.filter((f) => f.tool_use_id).map((f) => [f.tool_use_id, f]));
  const turns = items.flatMap((it) => turnOf(it, rel, length, dir, it.kind === "tool" ? byCall.get(it.useId) : undefined));
  const pictures = frames.map((frame) => ({ at: rel(frame.time), frame })).sort((a, b) => a.at - b.at);
  const prompt = items.find((it) => it.kind === "prompt");
  return {
    began, length, end, pictures, prompt: prompt?.kind === "prompt" ? prompt.text : "",
    turns: [...turns, ...yourTurns(pictures, length)].sort((a, b) => a.at - b.at || a.until - b.until),
    decisions: items.flatMap((it) => decisionOf(it, rel)).sort((a, b) => a.at - b.at),
    pieces: items.flatMap((it) => piecesOf(it, rel)).sort((a, b) => a.at - b.at),
    rows: items.map((it) => rel(startOf(it))).sort((a, b) => a - b),
  };
}

/** When an item began; its own time is when it was whole. */
export const startOf = (it: Item): number => (it.kind === "text" || it.kind === "thinking" ? it.at - it.took : it.at);

function spanOf(it: Item): number[] {
  if (it.kind === "prompt") return [];
  if (it.kind === "text" || it.kind === "thinking") return [startOf(it), it.at];
  return it.kind === "tool" && it.endedAt ? [it.at, it.endedAt] : [it.at];
}

function turnOf(it: Item, rel: (at: number) => number, length: number, dir: string, frame: KeptFrame | undefined): Turn[] {
  const turn = (at: number, until: number, kind: TurnKind, words: string, result = "", failed = false): Turn[] => [{ key: it.key, at: rel(at), until: rel(until), kind, words, result, failed }];
  switch (it.kind) {
    case "text":
      return turn(it.at - it.took, it.at, "says", "Says", oneLine(it.text));
    case "thinking":
      return turn(it.at - it.took, it.at, "says", "Thinks");
    case "tool": {
      if (isChore(it)) return [];
      const v = describeTool(it, dir, frame);
      return turn(it.at, it.endedAt || (it.orphaned ? it.at : length + it.at), "tool", `${v.verb} ${v.object}`.trim(), v.mark.tone === "busy" ? "" : v.mark.text, v.mark.tone === "fail");
    }
    case "question":
      return turn(it.at, it.at, "you", "Asks you");
    case "end":
      return turn(it.at, it.at, it.status.state === "done" ? "done" : "failed", it.status.state === "done" ? "Done" : "Ended");
    default:
      return [];
  }
}

/** From taking over to giving back. */
function yourTurns(pictures: Picture[], length: number): Turn[] {
  const out: Turn[] = [];
  for (const { at, frame } of pictures) {
    const last = out.at(-1);
    if (frame.kind === "take" && last?.until !== Infinity) out.push({ key: `y${frame.frame_id}`, at, until: Infinity, kind: "you", words: "You drive", result: "", failed: false });
    else if (frame.kind === "give" && last?.until === Infinity) last.until = at;
  }
  return out.map((t) => ({ ...t, until: Math.min(t.until, length) }));
}

function decisionOf(it: Item, rel: (at: number) => number): Decision[] {
  if (it.kind === "gate") {
    const a = it.approval;
    const asked = Date.parse(a.created_at) || it.at;
    const at = a.state === "waiting" ? asked : Date.parse(a.resolved_at ?? "") || it.at;
    const state = a.state === "allowed" ? "allowed" : a.state === "waiting" ? "other" : "denied";
    return [{ key: it.key, at: rel(at), from: rel(asked), state, words: `${state === "other" ? "Waits" : state === "allowed" ? "Allowed" : "Denied"}: ${verb(a)} ${visibleLine(a.target)}` }];
  }
  if (it.kind === "decided") return [{ key: it.key, at: rel(it.at), from: rel(it.at), state: deniedCalls(it.decided) > 0 ? "denied" : "allowed", words: `By rules: ${decidedLine(it.decided)}` }];
  return [];
}

const isShell = (it: ToolItem) => it.name === "Bash" || it.name === "BashOutput";

function piecesOf(it: Item, rel: (at: number) => number): Piece[] {
  if (it.kind !== "tool" || !isShell(it)) return [];
  const input = typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
  const out: Piece[] = [];
  if (typeof input.command === "string") out.push({ at: rel(it.at), kind: "command", text: input.command });
  if (it.result?.output) out.push({ at: rel(it.endedAt), kind: it.result.is_error ? "error" : "output", text: stripColour(it.result.output) });
  return out;
}

/** The last of a list that is ordered by time and not later than a moment; -1 for none. */
export const indexAt = (list: readonly { at: number }[], at: number): number => lastUntil(list, at, (x) => x.at);

/** When the row of a moment began: the latest one that has. */
export const rowAt = (p: Playback, at: number): number => p.rows[lastUntil(p.rows, at, (x) => x)] ?? 0;

function lastUntil<T>(list: readonly T[], at: number, time: (x: T) => number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (time(list[mid] as T) <= at) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}

/** The turn that a moment belongs to: the latest one that has begun. */
export const turnAt = (p: Playback, at: number): Turn | undefined => p.turns[indexAt(p.turns, at)];

/** Moments that one can step to: the beginnings of turns, each once. */
export function marksOf(p: Playback): number[] {
  return [...new Set([0, ...p.turns.map((t) => t.at)])].sort((a, b) => a - b);
}

export const nextAfter = (moments: readonly number[], at: number): number | undefined => moments.find((m) => m > at + 1);
/** Just after a mark, the step back goes to the one before it. */
export const lastBefore = (moments: readonly number[], at: number): number | undefined => moments.findLast((m) => m < at - 400);

/** All moments at which something is to be seen, in order. */
export function momentsOf(p: Playback): number[] {
  const all = [...p.turns.flatMap((t) => [t.at, t.until]), ...p.decisions.map((d) => d.at), ...p.pictures.map((x) => x.at), ...p.pieces.map((x) => x.at), p.length];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Which picture stands in each place of a lane with room for so many. A place before the first picture has none. */
export function strip(p: Playback, places: number): (Picture | undefined)[] {
  return Array.from({ length: Math.max(0, places) }, (_, i) => p.pictures[indexAt(p.pictures, ((i + 1) * p.length) / places)]);
}

/** How many pictures were left out up to a frame, because the run had too many. */
export const leftOut = (p: Playback): number => p.pictures.reduce((n, x) => n + (x.frame.skipped ?? 0), 0);

/** How much was written in each place of a lane, from 0 to 1. */
export function written(moments: readonly { at: number; size: number }[], length: number, places: number): number[] {
  const out = Array.from({ length: places }, () => 0);
  for (const m of moments) {
    const i = Math.min(places - 1, Math.floor((m.at / Math.max(1, length)) * places));
    out[i] = (out[i] ?? 0) + Math.log2(2 + m.size);
  }
  const most = Math.max(1, ...out);
  return out.map((n) => n / most);
}

/** A moment as a clock shows it. */
export function clockWords(ms: number): string {
  const s = Math.floor(ms / 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

/** The moments that a ruler names, at most so many. */
export function ticks(length: number, most: number): number[] {
  const step = 1000 * (STEPS.find((s) => length / (s * 1000) <= most) ?? 7200);
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => i * step);
}
