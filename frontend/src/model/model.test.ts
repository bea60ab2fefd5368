import { describe, expect, it, vi } from "vitest";
import { toFailure } from "../api/failure";
import type { ChannelView, LoopEvent, Snapshot, Status } from "../api/types";
import { splitBlocks } from "./blocks";
import { duration, elapsed, modelName, money } from "./format";
import { applyEvents, channelRows, costsAt, emptyFrame, fromSnapshot, hasGap, strongest } from "./frame";
import { confirmed, failed, parseOutbox, put, settle } from "./outbox";
import { elidePath, oneLine, prose, relativeTo, segments, skipUtf8, utf8Length, visible } from "./text";
import { parsePatch } from "./patch";
import { describeTool } from "./timeline/tools";
import type { ToolItem } from "./timeline/items";

const channel = (id: string, more: Partial<ChannelView> = {}): ChannelView => ({ channel_id: id, kind: "project", name: id, dir: `/${id}`, created_at: "", state: "idle", queued: 0, last_event_id: 0, ...more });
const snapshot = (channels: ChannelView[], seq = 10): Snapshot => ({
  seq, version: "v", mode: "headless", channels, containers: null, cost_today: { cost_usd: 1, last_event_id: 7 }, approvals: null, gate: { state: "on", text: "on" },
  engine: { ok: true, host: "", source: "", name: "Docker", version: "1", api_version: "", os: "", arch: "", rootless: false },
  image: { state: "ready", ref: "x" }, config: { path: "", problems: null, has_credentials: true, theme: "dark" },
});
let seq = 10;
const ev = (type: string, data: unknown, ch = "a", run = "r"): LoopEvent => ({ seq: ++seq, type, channel_id: ch, run_id: run, timestamp: Date.now(), data });

describe("held calls in the frame", () => {
  const held = (id: string, more: object = {}) => ({ approval_id: id, channel_id: "a", state: "waiting", created_at: id, ...more }) as never;
  it("come from the snapshot and from events, and change no channel's own state", () => {
    const busy = channel("a", { state: "needs_you", running_since: "2026-11-22T14:00:00Z" });
    let f = fromSnapshot(emptyFrame, { ...snapshot([busy, channel("b", { state: "needs_you", questions: 1 })]), approvals: [held("2"), held("1")] });
    expect([f.approvals.map((a) => a.approval_id), f.channels.map((c) => c.state)]).toEqual([["1", "2"], ["working", "needs_you"]]);
    f = applyEvents(f, [ev("gate.asked", held("3", { channel_id: "b" })), ev("gate.resolved", held("1", { state: "denied" })), ev("gate.status", { state: "broken", text: "broken" })]);
    expect([f.approvals.map((a) => a.approval_id), f.channels.map((c) => c.state), f.gate?.state]).toEqual([["2", "3"], ["working", "needs_you"], "broken"]);
    f = applyEvents(f, [ev("channel.deleted", null)]);
    expect(f.approvals.map((a) => a.approval_id)).toEqual(["3"]);
  });
});

describe("hostile text", () => {
  it("names what hides or reorders", () => {
    expect(visible("safe\u202egpj.exe")).toBe("safe⟨RLO⟩gpj.exe");
    expect(visible("a\u200bb\u0007\u001b]0;x")).toBe("a⟨ZWSP⟩b⟨BEL⟩⟨ESC⟩]0;x");
    expect(visible("\u{e0041}x")).toBe("⟨U+E0041⟩x");
  });
  it("names it in prose as well, and leaves emoji whole", () => {
    const emoji = "👩\u200d💻 ❤\ufe0f\u200d🔥 👨🏽\u200d👩🏽\u200d👧 👩\u200d"; // the last one still streams in
    expect(prose(emoji)).toBe(emoji);
    expect(prose(`a\u200db 👩\u200dx\u202e ${emoji}`)).toBe(`a⟨U+200D⟩b 👩⟨U+200D⟩x⟨RLO⟩ ${emoji}`);
    expect(prose("one\r\ntwo")).toBe("one\ntwo");
    const words = "می\u200cخواهم क\u094d\u200dष"; // Persian and Hindi
    expect(prose(words)).toBe(words);
    expect(prose(`pass\u200cword ${words}`)).toBe(`pass⟨U+200C⟩word ${words}`);
  });
  it("lets colours go silently and keeps lines", () => {
    expect(segments("\u001b[1;31mred\u001b[0m\r\nnext\tx")).toEqual([{ text: "red\nnext\tx", hidden: false }]);
  });
  it("counts bytes as UTF-8 does", () => {
    for (const s of ["", "abc", "äöü", "€", "🙂x", "\ud800"]) expect(utf8Length(s)).toBe(new TextEncoder().encode(s).length);
    expect(skipUtf8("äb🙂c", 3)).toBe("🙂c");
    expect(skipUtf8("äb🙂c", 7)).toBe("c");
  });
  it("shortens for one line", () => {
    expect(oneLine("  a\nb ")).toBe("a …");
    expect(relativeTo("/p/q/x.go", "/p/q")).toBe("x.go");
    expect(relativeTo("/p/qq/x.go", "/p/q")).toBe("/p/qq/x.go");
    expect(elidePath("/home/ana/src/very/long/path/to/some/file.go", 24).length).toBeLessThanOrEqual(24);
  });
});

describe("frame", () => {
  it("drops what the snapshot holds and sees holes", () => {
    seq = 10;
    let f = fromSnapshot(emptyFrame, snapshot([channel("a")]));
    expect(hasGap(f, [{ ...ev("x", {}), seq: 12 }])).toBe(true);
    expect(hasGap(f, [{ ...ev("x", {}), seq: 9 }, { ...ev("x", {}), seq: 11 }])).toBe(false);
    expect(hasGap(f, [{ ...ev("x", {}), seq: 14, first_seq: 11 }, { ...ev("x", {}), seq: 15 }])).toBe(false);
    expect(hasGap(f, [{ ...ev("x", {}), seq: 14, first_seq: 12 }])).toBe(true);
    f = applyEvents(f, [{ ...ev("channel.deleted", null), seq: 9 }]);
    expect(f.channels.length).toBe(1);
  });
  it("takes a new snapshot when it is told to, once", () => {
    seq = 10;
    const f = fromSnapshot(emptyFrame, snapshot([channel("a")]));
    const reset = (at: number, launch: string) => ({ seq: at, type: "reset", timestamp: 0, data: { launch } });
    expect(hasGap(f, [reset(12, f.launch)])).toBe(true);
    expect(hasGap(f, [reset(3, "another launch")])).toBe(true);
    expect(hasGap(f, [reset(10, f.launch)])).toBe(false);
  });
  it("follows a run through queue, work and end", () => {
    seq = 10;
    const run = { run_id: "r", channel_id: "a", prompt: "", priority: 0, demo: false, created_at: "" };
    let f = fromSnapshot(emptyFrame, snapshot([channel("a")]));
    f = applyEvents(f, [ev("queue.changed", { ...run, state: "queued" }), ev("queue.changed", { ...run, state: "queued" })]);
    expect(f.channels[0]).toMatchObject({ state: "queued", queued: 1 });
    f = applyEvents(f, [ev("queue.changed", { ...run, state: "starting" }), ev("agent.status", { status: "running", state: "starting", step: "image" })]);
    expect(f.channels[0]).toMatchObject({ state: "working", queued: 0 });
    expect(f.activeRuns).toEqual({ a: "r" });
    f = applyEvents(f, [ev("agent.status", { status: "error", state: "failed", cost_usd: 0.5, failure: { code: "model", cause: "no" } }), ev("queue.changed", { ...run, state: "failed" })]);
    expect(f.channels[0]).toMatchObject({ state: "failed", queued: 0 });
    expect(f.costs).toMatchObject({ usd: 1.5, estimated: false });
  });
  it("adds the cost of each run once, to the day it ended on", () => {
    seq = 10;
    const day = new Date(2026, 2, 4, 23, 0).getTime();
    vi.useFakeTimers({ now: day });
    const ended = (id: number, at: number, more: Partial<Status>) => ({ ...ev("agent.status", { status: "completed", state: "done", ...more }), id, timestamp: at });
    let f = fromSnapshot(emptyFrame, snapshot([channel("a")]));
    f = applyEvents(f, [ended(7, day, { cost_usd: 0.5 })]); // the snapshot's sum has it already
    expect(f.costs).toMatchObject({ usd: 1, estimated: false });
    f = applyEvents(f, [ended(8, day, { cost_usd: 0.5, cost_estimated: true, context: { used_tokens: 5, window_tokens: 10 } })]);
    expect(f.costs).toMatchObject({ usd: 1.5, estimated: true });
    f = applyEvents(f, [ended(9, day, { state: "failed" })]); // a refused run has neither cost nor context
    expect(f.costs).toMatchObject({ usd: 1.5, estimated: true });
    expect(f.channels[0]?.context).toEqual({ used_tokens: 5, window_tokens: 10 });
    expect(costsAt(f.costs, day + 2 * 3_600_000)).toMatchObject({ usd: 0, estimated: false });
    f = applyEvents(f, [ended(10, day + 2 * 3_600_000, { cost_usd: 0.25 }), ended(11, day, { cost_usd: 9 })]);
    expect(f.costs).toMatchObject({ usd: 0.25, estimated: false });
    vi.useRealTimers();
  });
  it("counts ends that come in another order than they were stored", () => {
    seq = 10;
    const ended = (id: number, cost_usd: number) => ({ ...ev("agent.status", { status: "completed", state: "done", cost_usd }), id, timestamp: Date.now() });
    const f = applyEvents(fromSnapshot(emptyFrame, snapshot([channel("a")])), [ended(11, 0.5), ended(10, 2)]);
    expect(f.costs.usd).toBe(1 + 2.5);
  });
  it("goes on working after a run where the agent is at a turn in a terminal", () => {
    seq = 10;
    const end = (more: object) => applyEvents(fromSnapshot(emptyFrame, snapshot([channel("a", { state: "working", ...more })])), [ev("agent.status", { status: "completed", state: "done" })]).channels[0]?.state;
    expect([end({ talking: true }), end({ talking: true, queued: 1 }), end({})]).toEqual(["working", "working", "done"]);
  });
  it("needs the person from the toolchain's step to the next one, also after the page was loaded again", () => {
    seq = 10;
    const at = (step: string, state = "starting") => ev("agent.status", { status: "running", state, step });
    const shown = (f: typeof emptyFrame) => f.channels.map((c) => [c.state, c.undecided === true]);
    let f = applyEvents(fromSnapshot(emptyFrame, snapshot([channel("a", { state: "working" })])), [at("toolchain")]);
    expect(shown(f)).toEqual([["needs_you", true]]);
    f = applyEvents(f, [ev("channel.updated", { channel_id: "a", name: "new" })]);
    expect(shown(f)).toEqual([["needs_you", true]]);
    const again = { ...snapshot([channel("a", { state: "needs_you", undecided: true, running_since: "2026-11-22T14:00:00Z" })], seq), approvals: [{ approval_id: "1", channel_id: "a", state: "waiting", created_at: "1" } as never] };
    for (const g of [f, fromSnapshot(emptyFrame, again)]) {
      expect(shown(g)).toEqual([["needs_you", true]]);
      expect(shown(applyEvents(g, [at("slot")]))).toEqual([["working", false]]);
      expect(shown(applyEvents(g, [at("", "cancelled")]))).toEqual([["idle", false]]);
    }
  });
  it("forgets of a channel what it has not any more", () => {
    seq = 10;
    const a = channel("a", { next_session: { mode: "fresh" }, queued: 2 });
    const { next_session: _, state: _s, queued: _q, last_event_id: _l, ...now } = a;
    const f = applyEvents(fromSnapshot(emptyFrame, snapshot([a])), [ev("channel.updated", { ...now, name: "new" })]);
    expect(f.channels[0]).toMatchObject({ name: "new", queued: 2 });
    expect(f.channels[0]).not.toHaveProperty("next_session");
  });
  it("makes a tree that survives cycles and lost parents", () => {
    const rows = channelRows([channel("b"), channel("a"), channel("t", { parent_id: "b", kind: "thread" }), channel("lost", { parent_id: "gone" }), channel("d", { kind: "demo" }), channel("x", { parent_id: "y" }), channel("y", { parent_id: "x" })]);
    expect(rows.map((r) => `${r.depth}${r.channel.channel_id}`)).toEqual(["0a", "0b", "1t", "0lost"]);
  });
  it("says of a folded project the strongest state that it hides, and how many stand so", () => {
    const all = [
      channel("p", { state: "done" }), channel("w", { parent_id: "p", state: "working", running_since: "then", queued: 2 }), channel("t", { parent_id: "w", state: "needs_you" }),
      channel("u", { parent_id: "p", state: "needs_you", queued: 1 }), channel("other", { state: "failed" }),
    ];
    const said = (closed: string[], of = all) => channelRows(of, new Set(closed)).map((r) => `${r.channel.channel_id} ${r.count} ${r.state} +${r.queued}${r.folded ? " folded" : ""}`);
    expect(said([])).toEqual(["other 1 failed +0", "p 1 done +0", "w 1 working +2", "t 1 needs_you +0", "u 1 needs_you +1"]);
    expect(said(["w"])).toEqual(["other 1 failed +0", "p 1 done +0", "w 1 needs_you +2 folded", "u 1 needs_you +1"]);
    expect(said(["p", "other"])).toEqual(["other 1 failed +0", "p 2 needs_you +3 folded"]);
    const [row] = channelRows([channel("p", { state: "working" }), channel("t", { parent_id: "p", state: "failed" })], new Set(["p"]));
    expect(row).toMatchObject({ state: "failed", count: 1, folded: true, since: undefined });
    expect(said(["x"], [channel("x", { parent_id: "y" }), channel("y", { parent_id: "x" })])).toEqual([]);
  });
  it("ranks what waits for the person first, and what only was last", () => {
    const states = ["idle", "done", "queued", "working", "failed", "needs_you"] as const;
    states.forEach((_, i) => expect(strongest(states.slice(0, i + 1).map((state) => channel("c", { state }))).state).toBe(states[i]));
    expect(strongest([channel("a", { state: "working", running_since: "1" })]).since).toBe("1");
    expect(strongest([channel("a", { state: "working", running_since: "1" }), channel("b", { state: "working" })])).toMatchObject({ count: 2, since: undefined });
  });
});

it("keeps prompts until they are confirmed", () => {
  const letter = { clientId: "1", channelId: "c", prompt: "p", at: 0, state: "sending" as const, failure: null };
  let box = failed(put([], letter), "1", { code: "offline", cause: "x" });
  expect(box[0]?.state).toBe("failed");
  box = parseOutbox(JSON.stringify(box));
  expect(settle(box, ["2"])).toBe(box);
  expect(settle(box, ["1"])).toEqual([]);
  expect(confirmed(box, "1")).toEqual([]);
  expect(parseOutbox("{")).toEqual([]);
  expect(parseOutbox('[1,{"clientId":3}]')).toEqual([]);
});

it("reads failures in every form they come in", () => {
  expect(toFailure('{"code":"model","cause":"No."}').cause).toBe("No.");
  expect(toFailure(new Error('{"code":"model","cause":"No."}')).code).toBe("model");
  expect(toFailure(new Error("boom"))).toMatchObject({ code: "internal", detail: "boom" });
});

describe("tools in one line", () => {
  const item = (name: string, input: unknown, result: Partial<ToolItem["result"]> | null = null): ToolItem => ({
    kind: "tool", key: "k", at: 0, runId: "r", useId: "t", parentId: "", name, input, endedAt: 0, orphaned: false,
    result: result ? { tool_use_id: "t", output: "", is_error: false, ...result } : null,
  });
  it.each([
    [item("Bash", { command: "ls -l\nwc" }), "Run ls -l … working"],
    [item("Bash", { command: "x" }, { output: "Exit code 2\nno", is_error: true }), "Run x exit 2"],
    [item("Read", { file_path: "/p/a.go" }, { output: "1\n2\n3\n" }), "Read a.go 3 lines"],
    [item("Grep", { pattern: "x" }, { output: "Found 6 files\na" }), "Search x 6 matches"],
    [item("mcp__loop__send_message", { content: "hi" }, {}), "Call loop · send_message "],
    [item("Unheard", "text", {}), "Use Unheard "],
    [item("TodoWrite", { todos: [{ status: "completed" }, null] }, {}), "Plan 1 of 2 done "],
    [item("Edit", [1], { files: [{ path: "/p/n", kind: "create", added: 2, removed: 0 }] }), "Create  "],
  ])("%#", (call, want) => {
    const v = describeTool(call, "/p");
    expect(`${v.verb} ${v.object} ${v.mark.text}`).toBe(want);
  });
});

it("numbers the lines of a patch", () => {
  const lines = parsePatch("--- a\n+++ b\n@@ -3,2 +3,3 @@ func F\n same\n-old\n+new\n+more\n\\ No newline at end of file\n");
  expect(lines.map((l) => `${l.kind} ${l.oldNo} ${l.newNo} ${l.text}`)).toEqual(["hunk 3 3 func F", "same 3 3 same", "del 4 0 old", "add 0 4 new", "add 0 5 more", "hunk 0 0 No newline at end of file"]);
  expect(parsePatch("not a patch")).toHaveLength(1);
});

it("splits prose without breaking lists, code or definitions", () => {
  const para = "word ".repeat(60).trim();
  const text = `${para}\n\n- a\n\n  still a\n- b\n\n${para}\n\n\`\`\`go\na\n\nb\n\`\`\`\n\n${para}`;
  const blocks = splitBlocks(text);
  expect(blocks.join("\n")).toBe(text);
  expect(blocks.length).toBe(4);
  expect(blocks.find((b) => b.includes("```"))).toContain("a\n\nb");
  expect(splitBlocks(`${text}\n\n[x]: http://y`)).toHaveLength(1);
});

it("words for time, money and models", () => {
  expect([40, 120, 41200, 98200, 3_600_000].map(duration)).toEqual(["<0.1 s", "0.1 s", "41 s", "1 m 38 s", "1 h"]);
  expect([900, 61_000, 3_660_000].map(elapsed)).toEqual(["0 s", "1 m", "1 h 1 m"]);
  expect([0, 0.0042, 0.1834].map(money)).toEqual(["$0.00", "< $0.01", "$0.18"]);
  expect(["claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "loop-demo"].map(modelName)).toEqual(["Sonnet 4.5", "Opus 4", "loop-demo"]);
});
