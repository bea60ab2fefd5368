import { expect, it } from "vitest";
import type { KeptFrame } from "../../api/types";
import type { Item } from "../timeline/items";
import { emptyBuilt, newRun } from "../timeline/items";
import { clockWords, indexAt, lastBefore, leftOut, marksOf, momentsOf, nextAfter, playbackOf, rowAt, strip, ticks, turnAt, written } from "./lanes";
import { advance, IDLE_MS, play, seek, startClock } from "./playclock";
import { parseRunLink, runLink } from "./runlink";
import { itemAt, lastRun } from "./store";

const T = 1_700_000_000_000;
const base = { runId: "r" };
const frame = (id: number, at: number, more: Partial<KeptFrame> = {}): KeptFrame => ({ frame_id: id, run_id: "r", kind: "act", time: T + at, driver: "agent", picture: `p${id}`, ...more });
const tool = (key: string, at: number, until: number, name: string, input: unknown, output: string, is_error = false): Item => ({
  ...base, kind: "tool", key, at: T + at, endedAt: until ? T + until : 0, useId: key, parentId: "", name, input, orphaned: false, cut: false, result: until ? { tool_use_id: key, output, is_error } : null,
});
const items: Item[] = [
  { ...base, kind: "prompt", key: "p", at: T - 60_000, text: "Check it", author: "" },
  { ...base, kind: "text", key: "t", at: T + 3000, took: 2000, text: "I look.", live: false, cut: false, author: "", uuid: "" },
  tool("b", 4000, 6000, "Bash", { command: "go test" }, "ok\n"),
  tool("s", 6500, 6600, "ToolSearch", { query: "select:mcp__loop-browser__computer" }, "[]"), // no turn
  tool("n", 7000, 8000, "mcp__loop-browser__computer", { action: "click", ref: 1 }, "Clicked."),
  { ...base, kind: "gate", key: "g", at: T + 12_000, approval: { approval_id: "a", state: "denied", operation: "write", target: "/x", kind: "file", created_at: new Date(T + 9000).toISOString(), resolved_at: new Date(T + 12_000).toISOString() } as never },
  { ...base, kind: "end", key: "e", at: T + 60_000, status: { status: "completed", state: "done" } as never, startedAt: T, failure: null },
];
const frames = [frame(1, 8000, { tool_use_id: "n", target: { name: "Continue", x: 1, y: 1, width: 1, height: 1 } }), frame(2, 20_000, { kind: "take" }), frame(3, 25_000, { kind: "page", skipped: 3 }), frame(4, 30_000, { kind: "give" })];
const run = { ...newRun("r", T), startedAt: T };
const p = playbackOf(items, run, frames, "");
if (!p) throw new Error("no playback");

it("puts turns, decisions, pages and the terminal on one clock", () => {
  expect(p.length).toBe(60_000);
  expect(p.turns.map((t) => [t.words, t.at, t.until, t.kind])).toEqual([
    ["Says", 1000, 3000, "says"], ["Run go test", 4000, 6000, "tool"], ["Click “Continue”", 7000, 8000, "tool"], ["You drive", 20_000, 30_000, "you"], ["Done", 60_000, 60_000, "done"],
  ]);
  expect(p.decisions).toMatchObject([{ at: 12_000, from: 9000, state: "denied" }]);
  expect(p.pieces).toEqual([{ at: 4000, kind: "command", text: "go test" }, { at: 6000, kind: "output", text: "ok\n" }]);
  expect(p.pictures.map((x) => x.at)).toEqual([8000, 20_000, 25_000, 30_000]);
  expect(leftOut(p)).toBe(3);
  expect(p.prompt).toBe("Check it");
});

it("has a length also of a run that goes on, and nothing of a run without items", () => {
  const live = playbackOf([items[1] as Item, tool("x", 5000, 0, "Bash", { command: "sleep" }, "")], run, [frame(9, 30_000)], "");
  expect(live?.length).toBe(30_000);
  expect(live?.turns.at(-1)).toMatchObject({ at: 5000, until: 30_000 });
  expect(playbackOf([], run, frames, "")).toBeNull();
  const later = playbackOf([items[1] as Item, tool("x", 5000, 0, "Bash", { command: "sleep" }, "")], run, [], "", T + 90_000);
  expect(later?.length).toBe(90_000); // up to now, also while nothing happens
  expect(later?.turns.at(-1)).toMatchObject({ at: 5000, until: 90_000 });
});

it("finds what belongs to a moment", () => {
  expect(indexAt(p.pictures, 7999)).toBe(-1);
  expect(indexAt(p.pictures, 8000)).toBe(0);
  expect(indexAt(p.pictures, 59_000)).toBe(3);
  expect(turnAt(p, 500)).toBeUndefined();
  expect(turnAt(p, 6500)?.words).toBe("Run go test");
  expect(nextAfter(marksOf(p), 4000)).toBe(7000);
  expect(lastBefore(marksOf(p), 4100)).toBe(1000);
  expect(nextAfter(p.decisions.map((d) => d.at), 12_000)).toBeUndefined();
  expect(strip(p, 6).map((x) => x?.frame.frame_id)).toEqual([1, 2, 4, 4, 4, 4]);
  expect(strip(p, 10)[0]).toBeUndefined();
  expect(written([{ at: 0, size: 1 }, { at: 59_999, size: 1000 }, { at: 60_000, size: 1 }], 60_000, 3)).toEqual([expect.any(Number), 0, 1]);
});

it("plays by real time, skips what is idle, and stops at the end", () => {
  const moments = momentsOf(p);
  let c = play(startClock, true, p.length);
  c = advance({ ...c, skip: false }, 5000, moments);
  expect(c.at).toBe(5000);
  c = advance({ ...c, speed: 4 }, 1000, moments);
  expect(c.at).toBe(9000);
  c = advance({ ...seek(c, 30_000, p.length), skip: true, speed: 1 }, 500, moments);
  expect(c.at).toBe(60_000 - IDLE_MS + 500);
  c = advance(c, 5000, moments);
  expect(c).toMatchObject({ at: 60_000, playing: false });
  expect(play(c, true, p.length)).toMatchObject({ at: 0, playing: true });
  expect(advance(startClock, 1000, moments)).toBe(startClock);
  expect(seek(c, -5, p.length).at).toBe(0);
});

it("names moments", () => {
  expect(clockWords(101_900)).toBe("1:41");
  expect(clockWords(3_661_000)).toBe("1:01:01");
  expect(ticks(258_000, 9)).toEqual([0, 30, 60, 90, 120, 150, 180, 210, 240].map((s) => s * 1000));
  expect(lastRun({ ...emptyBuilt, runs: { a: { ...newRun("a", 5), startedAt: 5 }, b: { ...newRun("b", 9), seenAt: 9 } } })).toBe("b");
});

it("finds the row of a moment", () => {
  const at = (ms: number) => items[itemAt(items, { run: "r", began: T, at: T + rowAt(p, ms) })]?.key;
  expect([0, 900, 1000, 3999, 4000, 8500, 13_000, 60_000].map(at)).toEqual(["p", "p", "t", "t", "b", "n", "g", "e"]);
  expect(itemAt(items.filter((x) => x.kind !== "tool"), { run: "r", began: T, at: T + rowAt(p, 8500) })).toBe(1); // behind a filter: the one before
  expect([itemAt(items, undefined), itemAt(items, { run: "other", began: T, at: T })]).toEqual([-1, -1]);
});

it("makes links to moments, and follows its own only", () => {
  const l = { channel: "ch-1", run: "r_2", at: 101_900 };
  const link = runLink("http://127.0.0.1:8222/", l);
  expect(link).toBe("http://127.0.0.1:8222/#run=r_2&channel=ch-1&t=101.9");
  for (const text of [link, ` ${link}\n`, "#run=r_2&channel=ch-1&t=101.9", link.replace("127.0.0.1", "localhost")]) expect(parseRunLink(text)).toEqual(l);
  expect(parseRunLink("#run=r&channel=c")).toEqual({ run: "r", channel: "c", at: 0 });
  expect(parseRunLink(runLink("", { ...l, at: 1000.2 }))?.at).toBe(1001); // not before what began then
  for (const text of ["", "run=r&channel=c", "#token=abc", "#run=r", "#run=../x&channel=c", "#run=r&channel=c&t=-1", "#run=r&channel=c&t=x", "https://example.com/#run=r&channel=c", "http://127.0.0.1:8222/x#run=r&channel=c", "http://127.0.0.1.example.com/#run=r&channel=c"]) {
    expect(parseRunLink(text), text).toBeNull();
  }
});
