import { describe, expect, it } from "vitest";
import type { LoopEvent, Run, TimelinePage } from "../../api/types";
import { utf8Length } from "../text";
import { passes } from "./filter";
import type { Item, ToolItem } from "./items";
import { activeRun, emptyTimeline, loaded, olderLoaded, receive, shownItems, since, startLoading } from "./state";
import type { TimelineState } from "./state";
import { describeTool, isChore } from "./tools";

const RUN = "r1";
let id = 0;
let at = 1_000_000;

function ev(type: string, data: unknown, run = RUN): LoopEvent {
  return { seq: 0, id: ++id, type, channel_id: "c", run_id: run, timestamp: (at += 1000), data };
}
function delta(text: string, offset: number, block = 0, kind = "text", msg = "m1", run = RUN): LoopEvent {
  return { seq: 0, type: "message.streaming", channel_id: "c", run_id: run, timestamp: (at += 10), data: { msg_id: msg, block, kind, offset, delta: text } };
}
const prompt = (text = "do it", run = RUN) => ev("message.created", { msg_id: `u${run}`, content: text, is_bot: false }, run);
const bot = (text: string, msg = "m1", run = RUN) => ev("message.created", { msg_id: msg, content: text, is_bot: true }, run);
const status = (state: string, more = {}, run = RUN) => ev("agent.status", { status: "running", state, ...more }, run);
const page = (events: LoopEvent[], more: Partial<TimelinePage> = {}): TimelinePage => ({ events, has_more: false, live: null, queue: null, ...more });
const ready = (events: LoopEvent[] = [], more: Partial<TimelinePage> = {}): TimelineState => loaded(startLoading(emptyTimeline), page(events, more), at);
const kinds = (t: TimelineState) => shownItems(t).map((i) => i.kind).join(" ");
const texts = (t: TimelineState) => t.built.items.flatMap((i) => (i.kind === "text" || i.kind === "thinking" ? [i.text] : []));
const bare = (items: Item[]) => items.map((i) => JSON.stringify(i)).join("\n");

const queued = (run: string, priority = 0): Run => ({ run_id: run, channel_id: "c", prompt: `p ${run}`, state: "queued", priority, demo: false, created_at: `2026-01-01T00:00:0${run.slice(1)}Z` });
const queueEvent = (run: Run): LoopEvent => ({ seq: 0, type: "queue.changed", channel_id: "c", run_id: run.run_id, timestamp: at, data: run });

describe("who drives the browser", () => {
  const drives = (driver: string) => ev("run.notice", { level: "info", text: "You did.", driver });
  const until = (t: TimelineState) => shownItems(t).flatMap((i) => (i.kind === "notice" ? [[i.driver, i.until > 0]] : []));
  const began = () => [prompt(), status("running", { step: "agent" }), drives("person")];

  it("has one row for each change of hands, and the last one knows that it goes on", () => {
    expect(until(ready(began()))).toEqual([["person", false]]);
    const t = receive(ready(began()), [drives("nobody"), ev("run.notice", { level: "info", text: "else" }), drives("person")]);
    expect(until(t)).toEqual([["person", true], ["nobody", false], ["", false], ["person", false]]);
  });

  it("ends with the run, and is the same in two pages", () => {
    const all = [...began(), status("done")];
    const whole = ready(all);
    expect(until(whole)).toEqual([["person", true]]);
    expect(bare(olderLoaded(ready(all.slice(3), { has_more: true }), page(all.slice(0, 3))).built.items)).toBe(bare(whole.built.items));
  });
});

describe("a whole run", () => {
  const events = () => [
    prompt(), status("starting", { step: "image" }), status("starting", { step: "container" }), status("running", { step: "agent" }),
    ev("agent.thinking", { msg_id: "m1", text: "hm" }), bot("hello"),
    ev("tool.use", { tool_use_id: "t1", tool_name: "Bash", input: { command: "ls" } }),
    ev("tool.result", { tool_use_id: "t1", output: "a\nb", is_error: false }),
    ev("run.notice", { level: "warning", text: "careful" }), ev("agent.raw", { type: "news" }), ev("future.kind", { x: 1 }),
    status("done", { model: "claude-sonnet-4-5", cost_usd: 0.1 }),
  ];

  it("becomes one row per thing, unknown kinds included", () => {
    const t = ready(events());
    expect(kinds(t)).toBe("prompt start thinking text tool notice raw raw end");
    expect(activeRun(t)).toBeNull();
  });

  it("is the same live, replayed, repeated or loaded in two pages", () => {
    const all = events();
    const whole = bare(ready(all).built.items);
    const live = all.reduce((t, e) => receive(t, [e]), ready());
    expect(bare(live.built.items)).toBe(whole);
    expect(bare(receive(receive(ready(), all), all).built.items)).toBe(whole);
    const late = ready(all.slice(7), { has_more: true });
    expect(kinds(late)).toContain("tool"); // the result alone, until its call is loaded
    expect(bare(olderLoaded(late, page(all.slice(0, 7))).built.items)).toBe(whole);
  });

  it("is under way also where its start is on an older page", () => {
    const all = events();
    const late = ready(all.slice(4, 7), { has_more: true });
    expect(activeRun(late)).toMatchObject({ runId: RUN, startedAt: 0 });
    expect([since(activeRun(late)!), since(activeRun(late)!, new Date(5000).toISOString())]).toEqual([all[4]?.timestamp, 5000]);
    expect(kinds(receive(late, [status("running")]))).toBe("thinking text tool"); // no start of an old run
    expect(since(activeRun(olderLoaded(late, page(all.slice(0, 4))))!)).toBe(all[1]?.timestamp);
    const end = receive(late, [status("done")]);
    expect(activeRun(end)).toBeNull();
    expect(end.built.items.at(-1)).toMatchObject({ kind: "end", startedAt: 0 }); // its duration is not known
    expect(activeRun(ready([bot("x", "m1", "")]))).toBeNull();
  });

  it("never changes a state that was handed out", () => {
    const all = events();
    const t = ready(all.slice(0, 7));
    const before = bare(t.built.items);
    receive(t, all.slice(7));
    expect(bare(t.built.items)).toBe(before);
  });

  it("survives payloads of the wrong shape", () => {
    const t = ready([ev("tool.use", null), ev("message.created", 7), ev("agent.status", {}), ev("tool.result", {}), ev("agent.thinking", {}), ev("run.notice", {})]);
    expect(t.built.items.length).toBeGreaterThan(3);
  });
});

describe("streaming", () => {
  it("appends by byte offset and drops repeats", () => {
    let t = ready([prompt(), status("running", { step: "agent" })]);
    t = receive(t, [delta("Grüß ", 0), delta("Grüß ", 0), delta("dich", utf8Length("Grüß "))]);
    t = receive(t, [delta("ß dich 🙂", 4)]); // overlaps: only the new bytes count
    expect(texts(t)).toEqual(["Grüß dich 🙂"]);
    expect(t.stale).toBe(false);
  });

  it("asks for a resync when a piece is missing", () => {
    const t = receive(ready([prompt()]), [delta("Hel", 0), delta("world", 7)]);
    expect(t.stale).toBe(true);
    expect(texts(t)).toEqual(["Hel"]);
  });

  it("keeps the row when the stored message takes its place", () => {
    let t = receive(ready([prompt()]), [delta("think", 0, 0, "thinking"), delta("Hello", 0, 1)]);
    const keys = t.built.items.map((i) => i.key);
    t = receive(t, [ev("agent.thinking", { msg_id: "m1", text: "think more" }), bot("Hello there")]);
    expect(t.built.items.map((i) => i.key)).toEqual(keys);
    expect(texts(t)).toEqual(["think more", "Hello there"]);
    expect(t.built.live).toEqual([]);
  });

  it("ignores late pieces of what is stored already", () => {
    const t = receive(ready([prompt(), bot("Hello there")]), [delta("Hello", 0), delta(" there", 5)]);
    expect(texts(t)).toEqual(["Hello there"]);
    expect(t.stale).toBe(false);
  });

  it("replaces the pieces of an attempt that was broken off", () => {
    const t = receive(ready([prompt()]), [delta("first try", 0, 0, "text", "m1"), delta("second", 0, 0, "text", "m2")]);
    expect(texts(t)).toEqual(["second"]);
  });

  it("shows after a reload what was being written, once", () => {
    const live = { run_id: RUN, msg_id: "m1", blocks: [{ kind: "text", text: "Hel" }] };
    let t = ready([prompt(), status("running", { step: "agent" })], { live });
    t = receive(t, [delta("lo", 3)]);
    expect(texts(t)).toEqual(["Hello"]);
    const finished = ready([prompt(), bot("Hello")], { live });
    expect(texts(finished)).toEqual(["Hello"]);
  });

  it("holds back events while a page is on its way", () => {
    const first = prompt();
    let t = startLoading(emptyTimeline);
    t = receive(t, [delta("lo", 3)]);
    t = loaded(t, page([first], { live: { run_id: RUN, msg_id: "m1", blocks: [{ kind: "text", text: "Hel" }] } }), at);
    expect(texts(t)).toEqual(["Hello"]);
  });

  it("keeps a cut-off text when the run ends, but not as live", () => {
    const t = receive(ready([prompt()]), [delta("half a sen", 0), status("failed", { failure: { code: "model", cause: "It broke off." } })]);
    const text = t.built.items.find((i) => i.kind === "text");
    expect(text).toMatchObject({ text: "half a sen", live: false });
    expect(receive(t, [delta("tence", 10)]).built.items).toBe(t.built.items);
  });
});

describe("queue", () => {
  it("keeps order, counts once, and lets a run go when it starts", () => {
    let t = receive(ready([prompt("x", "r1")]), [queueEvent(queued("r3")), queueEvent(queued("r2")), queueEvent(queued("r2"))]);
    expect(t.queue.map((r) => r.run_id)).toEqual(["r2", "r3"]);
    t = receive(t, [status("starting", { step: "image" }, "r2")]);
    expect(t.queue.map((r) => r.run_id)).toEqual(["r3"]);
    t = receive(t, [queueEvent({ ...queued("r3"), state: "cancelled" })]);
    expect(t.queue).toEqual([]);
  });

  it("shows a waiting prompt where its run begins", () => {
    let t = ready([prompt("first", "r1"), status("running", { step: "agent" }, "r1"), prompt("second", "r2")], { queue: [queued("r2")] });
    expect(kinds(t)).toBe("prompt start");
    t = receive(t, [bot("answer", "m1", "r1"), status("done", {}, "r1"), status("starting", { step: "image" }, "r2")]);
    expect(kinds(t)).toBe("prompt start text end prompt start");
  });
});

it("keeps what was reported, but says what passes by in the last row only", () => {
  let t = ready([prompt(), status("running", { step: "agent" }), ev("agent.activity", { activity: "init", model: "m" })]);
  expect(kinds(t)).toBe("prompt start");
  expect(activeRun(t)?.activity).toBe("Starting");
  t = receive(t, [{ ...ev("agent.activity", { activity: "thinking", description: "40 tokens" }), id: 0 }]);
  expect(activeRun(t)?.activity).toBe("Thinking, 40 tokens");
  t = receive(t, [ev("agent.activity", { activity: "api_retry", description: "Trying again." })]);
  expect(kinds(t)).toBe("prompt start activity");
  expect(activeRun(t)?.activity).toBe("");
});

it("marks calls without a result when their run ends", () => {
  const t = ready([prompt(), ev("tool.use", { tool_use_id: "t", tool_name: "Bash", input: {} }), status("interrupted", { failure: { code: "interrupted", cause: "Loop stopped." } })]);
  const tool = t.built.items.find((i) => i.kind === "tool");
  expect(tool).toMatchObject({ orphaned: true });
  expect(t.built.items.filter((i) => passes(i, "problems")).map((i) => i.kind)).toEqual(["tool", "end"]);
});

it("keeps what arrives while the newest page is read again", () => {
  const first = [prompt(), status("running", { step: "agent" })];
  let t = receive(ready(first), [delta("Hel", 0)]);
  t = startLoading(t);
  const late = ev("run.notice", { level: "info", text: "late" });
  t = receive(t, [delta("lo", 3), late]);
  expect(texts(t)).toEqual(["Hello"]); // shown at once
  t = loaded(t, page(first, { live: { run_id: RUN, msg_id: "m1", blocks: [{ kind: "text", text: "Hel" }] } }), at);
  expect(texts(t)).toEqual(["Hello"]);
  expect(kinds(t)).toBe("prompt start text notice");
  expect(t).toMatchObject({ stale: false, loading: false, pending: [] });
});

it("joins a resync to the older pages that are here", () => {
  const events = Array.from({ length: 30 }, () => bot("x", `m${id}`));
  const t = ready(events, { has_more: true });
  const again = loaded(startLoading(t), page([...events.slice(20), bot("new", "mm")], { has_more: true }), at);
  expect(again.events.length).toBe(31);
  const apart = loaded(startLoading(t), page([bot("far", "mf")], { has_more: true }), at);
  expect(apart.events.length).toBe(1);
});

it("folds ten thousand events without a pause", () => {
  const events: LoopEvent[] = [];
  for (let i = 0; i < 2500; i++) {
    const r = `r${i}`;
    events.push(prompt("x", r), status("starting", { step: "image" }, r), bot("y", `m${i}`, r), status("done", {}, r));
  }
  const t = ready(events);
  expect(t.built.items.length).toBe(10_000);
});

describe("a run that is stopped", () => {
  const begun = () => [prompt(), status("starting", { step: "image" }), status("starting", { step: "agent" }), status("running")];
  const cut = () => ev("message.created", { msg_id: "m1", content: "Half a", is_bot: true, cut: true });
  const starts = (t: TimelineState) => t.built.items.flatMap((i) => (i.kind === "start" ? [i] : []));

  it("keeps what was streamed, marked, the same live and after a reload", () => {
    const all = [...begun(), cut(), status("cancelled")];
    const live = receive(receive(ready(all.slice(0, 4)), [delta("Half a", 0)]), all.slice(4));
    const loadedAgain = ready(all);
    for (const t of [live, loadedAgain]) {
      expect(kinds(t)).toBe("prompt start text end");
      expect(t.built.items.find((i) => i.kind === "text")).toMatchObject({ text: "Half a", cut: true, live: false });
      expect(starts(t)[0]?.failed).toBe(false);
    }
    expect(starts(loadedAgain)[0]?.readyAt).toBe(all[3]?.timestamp); // the start, not the stop
  });

  it("has no failed start once the agent ran, whatever it showed", () => {
    for (const state of ["cancelled", "interrupted", "failed"]) {
      expect(starts(ready([...begun(), status(state)]))[0]?.failed).toBe(false);
      expect(starts(ready([...begun().slice(0, 3), status(state)]))[0]?.failed).toBe(true);
    }
  });

  it("marks a thought and a call that were not finished", () => {
    const t = ready([...begun(), ev("agent.thinking", { msg_id: "m1", text: "hm", cut: true }), ev("tool.use", { tool_use_id: "m1/1", tool_name: "Write", input: {}, cut: true }), status("cancelled")]);
    expect(t.built.items.find((i) => i.kind === "thinking")).toMatchObject({ cut: true });
    const tool = t.built.items.find((i) => i.kind === "tool");
    expect(tool?.kind === "tool" && describeTool(tool, "").mark).toEqual({ text: "cut off here", tone: "fail" });
  });

  it("says which call is being written", () => {
    const t = receive(ready(begun()), [delta("Write", 0, 0, "tool")]);
    expect(activeRun(t)?.activity).toBe("Preparing Write");
    expect(kinds(t)).toBe("prompt start");
  });
});

describe("background tasks", () => {
  const task = (task_id: string, what: string) => ({ task_id, kind: "command", what });
  const list = (waiting: boolean, ...tasks: object[]) => ev("run.background", { tasks, waiting });

  it("are the run's, since they began, and gone with it", () => {
    const began = list(false, task("b", "Dev server"));
    const all = [prompt(), status("running"), began, list(false, task("b", "npm run dev")), list(true, task("b", "npm run dev"), task("c", "make"))];
    const run = activeRun(ready(all));
    expect(run?.waiting).toBe(true);
    expect(run?.tasks).toEqual([{ id: "b", kind: "command", what: "npm run dev", since: began.timestamp }, { id: "c", kind: "command", what: "make", since: at }]);
    const end = ready([...all, status("done")]);
    expect(end.built.runs[RUN]?.tasks).toEqual([]);
    expect(kinds(end)).toBe("prompt end");
  });

  it("survive payloads of the wrong shape", () => {
    expect(activeRun(ready([prompt(), status("running"), ev("run.background", { tasks: [null, 7, { what: {} }] })]))?.tasks.length).toBe(3);
  });
});

it("says of a look for tools which ones, quietly unless it failed", () => {
  const call = (query: string, result: ToolItem["result"], more: Partial<ToolItem> = {}): ToolItem => ({
    kind: "tool", key: "k", at: 1, runId: "r", useId: "u", parentId: "", name: "ToolSearch", input: { query, max_results: 2 }, result, endedAt: result ? 2 : 0, orphaned: false, cut: false, ...more,
  });
  const answer = (is_error: boolean) => ({ tool_use_id: "u", output: '[{"type":"tool_reference"}]\n', is_error });
  const found = call("select:mcp__loop-browser__navigate, Read,mcp__loop__send_message", answer(false));
  expect(describeTool(found, "")).toMatchObject({ verb: "Looks up tools", object: "navigate, Read, send_message", note: "", mark: { text: "", tone: "ok" } });
  expect(describeTool(call("web pages", null), "").object).toBe("web pages");
  expect([found, call("x", null), call("x", answer(true)), call("x", null, { orphaned: true }), call("x", answer(false), { name: "Read" })].map(isChore)).toEqual([true, true, false, false, false]);
});
