import { describe, expect, it } from "vitest";
import type { GateRecord } from "../api/types";
import { brokenWords, byWords, canBeRule, groupsOf, NO_FILTER, objectWords, passes, rowsOf, ruleOf, runsOf, summary, toneOf } from "./gate-log";

const at = (s: number) => new Date(Date.UTC(2026, 10, 22, 14, 0, s)).toISOString();
const rec = (n: number, more: Partial<GateRecord> = {}): GateRecord => ({
  id: `i${n}`, at: at(n), channel_id: "c", run_id: "r", spawn_id: "s", tool_use_id: "t1", kind: "file", operation: "write", target: "/home/ana/x", rule: "startup.shell", decision: "allowed", by: "a rule",
  calls: 1, latency_ms: 0, policy: "1", hash: `h${n}`, prev: `h${n - 1}`, ...more,
});

describe("the record of decisions", () => {
  it("is grouped by tool call, like entries together, those of a person alone", () => {
    const list = [rec(5, { tool_use_id: "t2" }), rec(1), rec(2, { calls: 207 }), rec(3, { digest: "d", by: "window", scope: "once", latency_ms: 72_000 }), rec(4, { tool_use_id: "" })];
    const groups = groupsOf(list);
    expect(groups.map((g) => [g.tool, g.calls, g.entries.map((e) => [e.calls, e.alike])])).toEqual([["t1", 209, [[208, 2], [1, 1]]], ["", 1, [[1, 1]]], ["t2", 1, [[1, 1]]]]);
    expect(rowsOf(groups, new Set()).length).toBe(7);
    expect(rowsOf(groups, new Set([groups[0]?.key ?? ""])).map((r) => r.kind)).toEqual(["group", "group", "entry", "group", "entry"]);
  });
  it("is of one run at a time, the newest first", () => {
    expect(runsOf([rec(1), rec(9, { run_id: "q" }), rec(2), rec(3, { run_id: undefined })]).map((r) => [r.run, r.entries])).toEqual([["q", 1], ["", 1], ["r", 2]]);
  });
  it("is filtered by what was asked, denied, done, and by words", () => {
    const asked = rec(1, { digest: "d", by: "window" }), denied = rec(2, { decision: "expired", kind: "connect", target: "/run/S" });
    expect([asked, denied].map((r) => passes(r, { ...NO_FILTER, show: "asked" }))).toEqual([true, false]);
    expect([asked, denied].map((r) => passes(r, { ...NO_FILTER, show: "denied" }))).toEqual([false, true]);
    expect([asked, denied].map((r) => passes(r, { ...NO_FILTER, kind: "connect" }))).toEqual([false, true]);
    expect([asked, denied].map((r) => passes(r, { ...NO_FILTER, text: " /RUN/s " }))).toEqual([false, true]);
  });
  it("says who decided, and in colour where that was a person or a denial", () => {
    expect([rec(1), rec(1, { by: "window", scope: "run" }), rec(1, { decision: "expired", by: "time" }), rec(1, { by: "an answer for this run" })].map(byWords))
      .toEqual(["startup.shell", "you, this run", "nobody answered", "an answer for this run"]);
    expect([rec(1), rec(1, { digest: "d" }), rec(1, { decision: "denied" }), rec(1, { decision: "withdrawn" })].map(toneOf)).toEqual(["", "yes", "no", ""]);
    expect(objectWords(rec(1, { kind: "counted", target: "", rule: "x" }))).toBe("calls that x covers");
    expect(summary([rec(1, { calls: 3 }), rec(2, { digest: "d", latency_ms: 29_000 })])).toBe("2 entries · 4 calls · 29 s to answer on average");
  });
  it("makes a rule of an act, on that object alone, and none of what is never remembered", () => {
    expect(ruleOf(rec(1, { target: "/a/{b}*" }))?.json).toBe('{"paths":["/a/\\\\{b\\\\}\\\\*"],"operations":["write"],"decision":"allow"}');
    expect(ruleOf(rec(1, { kind: "connect", target: "@x", decision: "denied" }))).toEqual({ list: "path_rules", json: '{"pattern":"@x","decision":"deny"}' });
    expect([rec(1), rec(1, { category: "credential" }), rec(1, { category: "credential", decision: "denied" }), rec(1, { kind: "counted" })].map(canBeRule)).toEqual([true, false, true, false]);
  });
  it("says where a chain is broken, of its own channel", () => {
    const files = [{ file: "d-2026.jsonl", channel_id: "d", records: 2, broken: "x" }, { file: "c-2026.jsonl", channel_id: "c", records: 9, broken: "line 8 does not follow line 7" }];
    expect(brokenWords(files, "c")).toBe("The record is not as it was written. c-2026.jsonl: line 8 does not follow line 7.");
    expect(brokenWords(files, "e")).toBe("");
  });
  it("of as many entries as are read is grouped whole", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => rec(i % 60, { hash: `${i}`, target: `/f${i % 20}`, tool_use_id: `t${Math.floor(i / 500)}` }));
    expect(groupsOf(many).reduce((n, g) => n + g.calls, 0)).toBe(10_000);
  });
});
