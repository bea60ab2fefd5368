import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../api/types";
import { fold } from "./build";
import { passes } from "./filter";
import { isFoldable } from "./fold";
import type { Item } from "./items";
import { emptyBuilt } from "./items";

let id = 0;
const event = (type: string, data: unknown) => ({ seq: 0, id: ++id, type, channel_id: "c", run_id: "r", timestamp: id, data }) as LoopEvent;
const tool = (use: string) => event("tool.use", { tool_use_id: use, tool_name: "Bash", input: {} });
const gate = (name: string, use = "", more: object = {}) => event(more && "state" in more ? "gate.resolved" : "gate.asked", { approval_id: name, tool_use_id: use, kind: "file", state: "waiting", target: "/t", calls: 1, ...more });
const rows = (events: LoopEvent[]) => fold(emptyBuilt, events).items.map((row) => (row.kind === "tool" ? row.useId : row.kind === "gate" ? `${row.approval.approval_id} ${row.approval.state}` : row.kind));
const items = (events: LoopEvent[]) => fold(emptyBuilt, events).items;

describe("a held call in the timeline", () => {
  it("stands below its tool call, and below the ones before it", () => {
    expect(rows([tool("t1"), tool("t2"), gate("a", "t1"), gate("b", "t1"), gate("c", "t2")])).toEqual(["t1", "a waiting", "b waiting", "t2", "c waiting"]);
  });
  it("stands where it came, if its tool call is not known", () => {
    expect(rows([tool("t1"), gate("a"), gate("b", "elsewhere"), tool("t2")])).toEqual(["t1", "a waiting", "b waiting", "t2"]);
  });
  it("moves below its tool call, where it was asked first", () => {
    expect(rows([gate("a", "t1"), tool("t1"), tool("t2")])).toEqual(["t1", "a waiting", "t2"]);
    const late = [gate("a"), tool("t1"), gate("b", "t2"), tool("t2")];
    expect(rows(late)).toEqual(["a waiting", "t1", "t2", "b waiting"]);
    const known = { ...event("gate.changed", gate("a", "t1").data), id: 0 };
    expect(rows([...late, known])).toEqual(["t1", "a waiting", "t2", "b waiting"]);
    expect(rows([...late, gate("a", "t1", { state: "denied" })])).toEqual(["t1", "a denied", "t2", "b waiting"]);
  });
  it("that has changed makes no row of its own", () => {
    expect(rows([tool("t1"), { ...event("gate.changed", gate("a", "t1").data), id: 0 }])).toEqual(["t1"]);
  });
  it("has its answer in the same row, also one whose question is on an older page", () => {
    expect(rows([tool("t1"), gate("a", "t1"), tool("t2"), gate("a", "t1", { state: "denied" })])).toEqual(["t1", "a denied", "t2"]);
    expect(rows([gate("a", "t1", { state: "allowed" })])).toEqual(["a allowed"]);
    expect(rows([gate("a", "", { state: "allowed" }), gate("a")])).toEqual(["a allowed"]);
  });
  it("of the wrong shape breaks nothing, and asks nothing", () => {
    const [it0] = items([event("gate.asked", { approval_id: 7, kind: {}, state: "odd", processes: "x", offers: [null], target: null })]);
    expect(it0).toMatchObject({ kind: "gate", approval: { approval_id: "7", kind: "file", state: "broken", target: "", processes: [], offers: [{ pattern: "" }] } });
  });
  it("is shown by every filter while it waits, and denials among the problems", () => {
    const one = (more: object) => items([gate("a", "", more)])[0] as Item;
    const filters = ["all", "messages", "files", "problems"] as const;
    expect(filters.map((f) => passes(items([gate("a")])[0] as Item, f))).toEqual([true, true, true, true]);
    expect(filters.map((f) => passes(one({ state: "denied" }), f))).toEqual([true, false, false, true]);
    expect(filters.map((f) => passes(one({ state: "allowed" }), f))).toEqual([true, false, false, false]);
    expect([isFoldable(items([gate("a")])[0] as Item), isFoldable(one({ state: "denied" }))]).toEqual([false, true]);
  });
});
