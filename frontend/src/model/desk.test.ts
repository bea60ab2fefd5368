import { describe, expect, it } from "vitest";
import type { Approval, ChannelView, Question } from "../api/types";
import { answersOf, deskKey, framed, groups, isTwice, needs, projectOf, short, stepsOf, stopOf } from "./desk";

const approval = (id: string, created: string, more: object = {}) => ({ approval_id: id, channel_id: `c-${id}`, kind: "file", state: "waiting", digest: "d", calls: 1, created_at: created, run_id: "r", offers: [], ...more }) as unknown as Approval;
const question = (id: string, created: string, more: object = {}) => ({ question_id: id, channel_id: `c-${id}`, kind: "ask_user", state: "open", created_at: created, questions: [{ question: "Which?", options: [{ label: "a" }] }], ...more }) as unknown as Question;
const channel = (id: string, state: string, more: object = {}) => ({ channel_id: id, name: id, kind: "project", state, queued: 0, last_event_id: 1, ...more }) as unknown as ChannelView;

it("queues the nearest deadline first, then the oldest", () => {
  const all = needs(
    [approval("late", "2026-01-01T10:00:00Z", { deadline: "2026-01-01T10:09:00Z" }), approval("soon", "2026-01-01T10:03:00Z", { deadline: "2026-01-01T10:05:00Z" }), approval("ever", "2026-01-01T10:02:00Z")],
    [question("old", "2026-01-01T09:00:00Z")],
    [channel("b", "working", { browser_held: true, running_since: "2026-01-01T08:00:00Z" }), channel("i", "needs_you", { undecided: true, running_since: "2026-01-01T08:30:00Z" })],
  );
  expect(all.map((n) => n.id)).toEqual(["soon", "late", "browser b", "image i", "old", "ever"]);
  expect(all.map(stopOf).map((s) => [s.id, s.channel, Boolean(s.approval), s.browser === true])).toEqual([
    ["soon", "c-soon", true, false], ["late", "c-late", true, false], ["b", "b", false, true], ["i", "i", false, false], ["old", "c-old", false, false], ["ever", "c-ever", true, false],
  ]);
});

it("groups the rest", () => {
  const list = [channel("a", "done", { last_event_id: 9 }), channel("b", "working"), channel("c", "queued"), channel("d", "idle"), channel("e", "failed", { last_event_id: 12 }), channel("f", "done"), channel("g", "needs_you")];
  const got = groups(list, needs([approval("x", "", { channel_id: "g" })], [], []), { a: 1, f: 1 });
  expect(got.map((g) => [g.name, g.channels.map((c) => c.channel_id).join("")])).toEqual([["Finished, not looked at", "ea"], ["Working", "b"], ["Queued", "c"], ["Quiet", "df"]]);
});

it("knows a channel's project", () => {
  const list = [channel("p", "idle"), channel("t", "idle", { parent_id: "p" }), channel("u", "idle", { parent_id: "t" }), channel("x", "idle", { parent_id: "gone" })];
  expect(["p", "t", "u", "x", "none"].map((id) => projectOf(list, id)?.channel_id)).toEqual(["p", "p", "p", "x", undefined]);
});

describe("answers", () => {
  it("denies by the first number", () => {
    expect(answersOf(approval("a", "", { offers: [{ scope: "run", pattern: "x" }, { scope: "project", pattern: "x" }] })).map((x) => x.name)).toEqual(["Deny", "Allow once", "For this run", "For this project"]);
    expect(answersOf(approval("a", "", { kind: "flood" }))).toEqual([]);
  });
  it("asks what is long to be read in its channel", () => {
    expect(short(question("q", ""))).toBe(true);
    expect(short(question("q", "", { kind: "exit_plan" }))).toBe(false);
    expect(short(question("q", "", { questions: [{}, {}] }))).toBe(false);
  });
  it("tells a plan by its steps", () => {
    expect(stepsOf("# Plan\nWhy.\n1. One\n2. Two\n- [ ] Three\n4) Four\n5. Five")).toEqual({ steps: ["One", "Two", "Three", "Four"], of: 5 });
    expect(stepsOf("# Move it\n\nAt once.")).toEqual({ steps: ["Move it", "At once."], of: 2 });
  });
});

describe("keys", () => {
  const press = (key: string, more: object = {}) => ({ key, mod: false, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });
  it("gives an answer by the chord alone", () => {
    expect(deskKey(press("2"), false, "")).toEqual({ act: "number", n: 2 });
    expect(deskKey(press("Enter"), false, "")).toEqual({ act: "open" });
    expect([deskKey(press("r"), false, "desk.review"), deskKey(press("r"), true, "desk.review"), deskKey(press("r", { repeat: true }), false, "desk.review")]).toEqual([{ act: "review" }, null, null]);
    expect(deskKey(press("Enter", { mod: true, ctrlKey: true }), true, "")).toEqual({ act: "give" });
    for (const k of [press("2", { repeat: true }), press("Enter", { mod: true, ctrlKey: true, repeat: true }), press("Enter", { mod: true, ctrlKey: true, shiftKey: true }), press("2", { ctrlKey: true }), press("0"), press("x")]) expect(deskKey(k, false, "")).toBeNull();
    expect(deskKey(press(".", { repeat: true }), false, "desk.stop")).toBeNull();
  });
  it("leaves keys to who types", () => {
    expect(["1", "j", "s", "Enter", "."].map((k) => deskKey(press(k), true, k === "j" ? "desk.next" : ""))).toEqual([null, null, null, null, null]);
    expect(deskKey(press("Escape"), true, "")).toEqual({ act: "back" });
  });
  it("leaves only the arrows to an option that has the keyboard", () => {
    expect(["ArrowDown", "ArrowUp"].map((k) => deskKey(press(k), false, "", true))).toEqual([null, null]);
    expect([deskKey(press("j"), false, "desk.next", true), deskKey(press("k"), false, "desk.previous", true), deskKey(press("ArrowDown"), false, "")]).toEqual([{ act: "next" }, { act: "previous" }, { act: "next" }]);
  });
  it("frames what comes in the place of one that is gone", () => {
    expect(framed(["a", "b"], "b", 0)).toBe("b");
    expect(framed(["a", "b"], "x", 1)).toBe("b");
    expect(framed(["a", "b"], "x", 7)).toBe("b");
    expect(framed([], "x", 0)).toBe("");
  });
  it("knows a double press", () => {
    expect([isTwice(0, 10), isTwice(1000, 1200), isTwice(1000, 1500)]).toEqual([false, true, false]);
  });
});
