import "../test/browser";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { emptyFrame } from "../model/frame";
import { announceStore, batchListeners, connectionStore, doctorStore, frameStore, outboxStore, timelineOf, timelinesStore, viewStore } from "../model/stores";
import { noSessions } from "../model/terminals/sessions";
import { sessionsStore } from "../model/dock/store";
import type { Answer } from "../test/loop";
import { channel, failure, page, pretendLoop, snapshot } from "../test/loop";
import { select } from "./actions";
import { startSession } from "./session";

const settle = () => vi.advanceTimersByTimeAsync(1000);

/** A connected page that has the first snapshot. */
async function connected(answers: Record<string, Answer> = {}) {
  const loop = pretendLoop(answers);
  const session = startSession(loop.bridge);
  loop.link({ state: "online" });
  await settle();
  return { loop, session };
}
const letter = (prompt = "go") => ({ clientId: "c1", channelId: "a", prompt, options: {}, at: 1, state: "sending" as const, failure: null });
const letters = () => outboxStore.getState().letters;
const names = () => frameStore.getState().channels.map((c) => c.name);

beforeEach(() => {
  vi.useFakeTimers();
  frameStore.setState(emptyFrame, true);
  timelinesStore.setState({}, true);
  outboxStore.setState({ letters: [] });
  sessionsStore.setState(noSessions);
  connectionStore.setState({ state: "connecting", snapshotFailure: null });
  doctorStore.setState({ phase: "none", report: null, failure: null, at: 0, fixing: null });
  viewStore.setState({ selected: "", theme: "system", toast: null });
});

describe("the first snapshot", () => {
  it("is asked for once Loop answers, and gives everything", async () => {
    const loop = pretendLoop();
    startSession(loop.bridge);
    await settle();
    expect(loop.calls).toEqual([]);
    expect(loop.position()).toBeNull();
    loop.link({ state: "online" });
    await settle();
    expect(names()).toEqual(["a", "b"]);
    expect(viewStore.getState().theme).toBe("dark");
    expect(sessionsStore.getState().known).toBe(true);
    expect(loop.position()).toEqual({ launch: "one", seq: 10 });
  });

  it("does without the list of terminals", async () => {
    await connected({ "Terminals.List": () => Promise.reject(failure("internal")) });
    expect(names()).toEqual(["a", "b"]);
    expect(sessionsStore.getState().known).toBe(false);
  });

  it("that fails is said, except where the connection says it already", async () => {
    await connected({ "System.Snapshot": () => Promise.reject(failure("internal", "broken")) });
    expect(connectionStore.getState().snapshotFailure?.cause).toBe("broken");
    connectionStore.setState({ snapshotFailure: null });
    await connected({ "System.Snapshot": () => Promise.reject(failure("offline")) });
    expect(connectionStore.getState().snapshotFailure).toBeNull();
  });

  it("has what came while it was on its way applied on top, once", async () => {
    let answer: (s: unknown) => void = () => undefined;
    const { loop } = await connected({ "System.Snapshot": () => new Promise((r) => (answer = r)) });
    loop.emit(10, { type: "channel.updated", data: channel("a", { name: "old news" }) }, { type: "channel.created", data: channel("c") });
    await settle();
    expect(names()).toEqual([]);
    answer(snapshot());
    await settle();
    expect(names()).toEqual(["a", "b", "c"]);
    expect(loop.called("System.Snapshot").length).toBe(1);
  });
});

describe("events", () => {
  it("of one frame are applied in one pass, and told to all who listen", async () => {
    const { loop } = await connected();
    const heard: number[] = [];
    const listen = (b: unknown[]) => void heard.push(b.length);
    batchListeners.add(listen);
    loop.emit(11, { type: "channel.created", data: channel("c") });
    loop.emit(12, { type: "channel.created", data: channel("d") });
    expect(names().length).toBe(2);
    await settle();
    batchListeners.delete(listen);
    expect([names(), heard]).toEqual([["a", "b", "c", "d"], [2]]);
  });

  it("of a hidden page come without frames", async () => {
    const { loop } = await connected();
    vi.stubGlobal("requestAnimationFrame", () => 0);
    loop.emit(11, { type: "channel.created", data: channel("c") });
    await settle();
    vi.stubGlobal("requestAnimationFrame", (f: () => void) => setTimeout(f, 16));
    expect(names()).toContain("c");
  });

  it("after a hole are held until everything was read again", async () => {
    const { loop } = await connected();
    viewStore.setState({ selected: "a" });
    timelinesStore.setState({ a: timelineOf({}, "a"), b: timelineOf({}, "b") });
    loop.given["System.Snapshot"] = () => snapshot({ seq: 17, channels: [channel("a"), channel("new")] });
    loop.emit(16, { type: "channel.created", data: channel("c") });
    await settle();
    expect(names()).toEqual(["a", "new"]);
    expect(loop.called("System.Snapshot").length).toBe(2);
    expect(loop.called("Channels.Timeline").map((a) => a[0])).toEqual(["a"]); // the selected one
    expect(Object.keys(timelinesStore.getState())).toEqual(["a"]); // others are read once they are selected
  });

  it("that take a channel away leave no page without one", async () => {
    const { loop } = await connected();
    viewStore.setState({ selected: "a" });
    loop.emit(11, { type: "channel.deleted", channel_id: "a" });
    await settle();
    expect([names(), viewStore.getState().selected]).toEqual([["b"], ""]);
  });

  it("of the settings change the look", async () => {
    const { loop } = await connected();
    loop.emit(11, { type: "config.changed", data: { theme: "light" } });
    await settle();
    expect(viewStore.getState().theme).toBe("light");
  });
});

describe("after a break", () => {
  it("the stream goes on without a new snapshot, and letters go out", async () => {
    const { loop } = await connected({ "Runs.Prompt": () => Promise.reject(failure("offline")) });
    loop.link({ state: "offline", since: 1, retryAt: 2 });
    expect(connectionStore.getState().state).toBe("offline");
    outboxStore.setState({ letters: [letter()] });
    loop.given["Runs.Prompt"] = () => ({ run_id: "c1", channel_id: "a", state: "running" });
    loop.link({ state: "online" });
    await settle();
    expect(loop.called("System.Snapshot").length).toBe(1);
    expect(letters()).toEqual([]);
  });

  it("a timeline that could not be read again is read once Loop answers, or once it is selected", async () => {
    const { loop, session } = await connected();
    viewStore.setState({ selected: "a" });
    for (const id of ["a", "b"]) await session.load(id);
    loop.given["Channels.Timeline"] = () => Promise.reject(failure("offline"));
    for (const id of ["a", "b"]) await session.load(id);
    expect(timelineOf(timelinesStore.getState(), "a")).toMatchObject({ phase: "ready", stale: true });
    loop.given["Channels.Timeline"] = () => page();
    outboxStore.setState({ letters: [letter()] });
    loop.given["Runs.Prompt"] = () => ({ run_id: "c1", channel_id: "a", state: "running" });
    loop.link({ state: "online" });
    await settle();
    expect([timelineOf(timelinesStore.getState(), "a").stale, letters()]).toEqual([false, []]);
    select("b");
    await settle();
    expect(timelineOf(timelinesStore.getState(), "b").stale).toBe(false);
    loop.link({ state: "online" });
    await settle();
    expect(loop.called("Channels.Timeline").map((x) => x[0])).toEqual(["a", "b", "a", "b", "a", "b"]);
  });

  it("Loop that started anew gives a new snapshot", async () => {
    const { loop } = await connected();
    loop.given["System.Snapshot"] = () => snapshot({ launch: "two", seq: 3 });
    loop.emit(11, { type: "reset", seq: 0, data: { launch: "two" } });
    await settle();
    expect(loop.position()).toEqual({ launch: "two", seq: 3 });
  });
});

describe("a prompt", () => {
  it("is gone once Loop has it, whichever way that is said", async () => {
    const { loop, session } = await connected({ "Runs.Prompt": () => ({ run_id: "c1", channel_id: "a", state: "running" }) });
    await session.deliverLetter(letter());
    expect(letters()).toEqual([]);
    expect(loop.called("Runs.Prompt").length).toBe(1);
    loop.given["Runs.Prompt"] = () => new Promise(() => undefined); // the answer is lost
    void session.deliverLetter(letter());
    expect(letters().length).toBe(1);
    loop.emit(11, { type: "queue.changed", channel_id: "a", run_id: "c1", data: { run_id: "c1", channel_id: "a", state: "queued", prompt: "go" } });
    await settle();
    expect(letters()).toEqual([]);
  });

  it("that is refused stays with the reason, and is not sent again by itself", async () => {
    const { loop, session } = await connected({ "Runs.Prompt": () => Promise.reject(failure("disk_full")) });
    await session.deliverLetter(letter());
    expect(letters()).toMatchObject([{ state: "failed", failure: { code: "disk_full" } }]);
    loop.link({ state: "online" });
    await settle();
    expect(loop.called("Runs.Prompt").length).toBe(1);
    session.dropLetter("c1");
    expect(letters()).toEqual([]);
  });

  it("that nobody answered goes out again with the same id", async () => {
    const { loop, session } = await connected({ "Runs.Prompt": () => Promise.reject(failure("offline")) });
    await session.deliverLetter(letter());
    expect(letters()).toMatchObject([{ state: "failed" }]);
    loop.given["Runs.Prompt"] = () => ({ run_id: "c1", channel_id: "a", state: "queued", prompt: "go" });
    loop.link({ state: "online" });
    await settle();
    const ids = loop.called("Runs.Prompt").map((a) => JSON.stringify(a)).map((a) => a.includes('"c1"'));
    expect([ids, letters()]).toEqual([[true, true], []]);
  });

  it("that was put back into the box while another is sent again is not sent", async () => {
    const { loop, session } = await connected();
    const offline = { state: "failed" as const, failure: failure("offline") };
    outboxStore.setState({ letters: [{ ...letter(), ...offline }, { ...letter(), clientId: "c2", ...offline }] });
    let answer: (run: unknown) => void = () => undefined;
    loop.given["Runs.Prompt"] = () => new Promise((r) => (answer = r));
    loop.link({ state: "online" });
    await settle();
    session.dropLetter("c2");
    answer({ run_id: "c1", channel_id: "a", state: "running" });
    await settle();
    expect([loop.called("Runs.Prompt").length, letters()]).toEqual([1, []]);
  });

  it("that waits for an answer of the person's says so", async () => {
    const { session } = await connected({ "Runs.Prompt": () => ({ run_id: "c1", channel_id: "a", state: "queued", prompt: "go", waits_for: { why: "question", question_id: "q" } }) });
    await session.deliverLetter(letter());
    expect(announceStore.getState().text).toContain("until you have answered");
  });
});

describe("a timeline", () => {
  it("that cannot be read says why, and is read again", async () => {
    const { loop, session } = await connected({ "Channels.Timeline": () => Promise.reject(failure("internal", "The database did not answer.")) });
    await session.load("a");
    expect(timelineOf(timelinesStore.getState(), "a")).toMatchObject({ phase: "error", failure: { cause: "The database did not answer." } });
    loop.given["Channels.Timeline"] = () => page();
    await session.load("a");
    expect(timelineOf(timelinesStore.getState(), "a").phase).toBe("ready");
  });

  it("asks for older events once at a time, from the first it has", async () => {
    const { loop, session } = await connected({ "Channels.Timeline": () => page({ events: [{ seq: 5, id: 5, type: "run.notice", channel_id: "a", timestamp: 1, data: { text: "x", level: "info" } }], has_more: true }) });
    await session.load("a");
    loop.given["Channels.Timeline"] = () => Promise.reject(failure("internal", "no"));
    await Promise.all([session.loadOlder("a"), session.loadOlder("a")]);
    expect(loop.called("Channels.Timeline").map((a) => a[1])).toEqual([0, 5]);
    expect(timelineOf(timelinesStore.getState(), "a").olderFailure?.cause).toBe("no");
  });
});

it("the checks run one at a time", async () => {
  const { loop, session } = await connected({ "System.Doctor": () => ({ checks: [] }) });
  await Promise.all([session.doctor(), session.doctor()]);
  expect([loop.called("System.Doctor").length, doctorStore.getState().phase]).toEqual([1, "done"]);
  loop.given["System.Doctor"] = () => Promise.reject(failure("internal"));
  await session.doctor();
  expect(doctorStore.getState().phase).toBe("error");
});
