import { describe, expect, it } from "vitest";
import type { GateLogEntry, GateLogGroup, GateRecord } from "../api/types";
import { brokenWords, byWords, countOf, draftOfRecord, groupsOf, NO_FILTER, noRuleWords, objectWords, queryOf, rowsOf, runsOf, summaryWords, toneOf } from "./gate-log";
import { missingOf, ruleOf } from "./rule-draft";

const at = (s: number) => new Date(Date.UTC(2026, 10, 22, 14, 0, s)).toISOString();
const rec = (n: number, more: Partial<GateRecord> = {}): GateRecord => ({
  id: `i${n}`, at: at(n), channel_id: "c", run_id: "r", spawn_id: "s", tool_use_id: "t1", kind: "file", operation: "write", target: "/home/ana/x", rule: "startup.shell", decision: "allowed", by: "a rule",
  calls: 1, latency_ms: 0, policy: "1", hash: `h${n}`, prev: `h${n - 1}`, ...more,
});

const entry = (n: number, more: Partial<GateRecord> = {}, alike = 1): GateLogEntry => ({ record: rec(n, more), day: "2026-11-22", entry: n, alike, first: at(n - alike + 1) });
const count = (run: string, tool: string, first: number, last: number): GateLogGroup => ({ run_id: run, tool_use_id: tool, first: at(first), last: at(last), entries: 1, calls: 1, asked: 0, denied: 0 });

describe("the record of decisions", () => {
  it("is grouped by tool call, newest first, and what belongs to none where it happened", () => {
    const none = { tool_use_id: "" };
    const groups = groupsOf([{ entries: [entry(9, none), entry(8), entry(7, { tool_use_id: "t2" }), entry(6), entry(5, none), entry(4, none)] }]);
    expect(groups.map((g) => [g.tool, g.entries.map((e) => e.entry)])).toEqual([["", [9]], ["t1", [8, 6]], ["t2", [7]], ["", [5, 4]]]);
    expect(new Set(groups.map((g) => g.key)).size).toBe(4);
    expect(rowsOf(groups, new Set()).length).toBe(10);
    expect(rowsOf(groups, new Set([groups[1]?.key ?? ""])).map((r) => r.kind)).toEqual(["group", "entry", "group", "group", "entry", "group", "entry", "entry"]);
  });
  it("keeps every row where it was when an older page comes, and what is alike apart", () => {
    const first = { entries: [entry(9), entry(8, { tool_use_id: "t2" })], next: "x" };
    const older = { entries: [entry(7, { tool_use_id: "t2" }), entry(6), entry(6)] };
    const before = rowsOf(groupsOf([first]), new Set()), after = rowsOf(groupsOf([first, older]), new Set());
    const keys = (rows: typeof before) => rows.map((r) => (r.kind === "entry" ? r.entry.key : r.group.key));
    expect(keys(after).slice(0, before.length)).toEqual(keys(before));
    expect(keys(after).length).toBe(before.length + 4);
    expect(new Set(keys(after)).size).toBe(keys(after).length);
  });
  it("knows an entry again when more of the same has come", () => {
    const key = (e: GateLogEntry) => groupsOf([{ entries: [e] }])[0]?.entries[0]?.key;
    expect(key(entry(9, { hash: "new" }, 3))).toBe(key(entry(8, {}, 2)));
  });
  it("is of one run at a time, the newest first, each named by its beginning", () => {
    const groups = [count("r", "b", 4, 9), count("q", "a", 6, 8), count("", "", 3, 3), count("r", "a", 1, 2)];
    expect(runsOf(groups)).toEqual([{ run: "r", at: at(1), last: at(9) }, { run: "q", at: at(6), last: at(8) }, { run: "", at: at(3), last: at(3) }]);
    const g = groupsOf([{ entries: [entry(1, { run_id: "q", tool_use_id: "a" })] }])[0];
    expect(g && countOf(groups, g)).toBe(groups[1]);
  });
  it("is asked for by run, by what was asked, denied, done, and by words", () => {
    expect(queryOf("c", "r")).toEqual({ channel_id: "c", run_id: "r" });
    expect(queryOf("c", "")).toEqual({ channel_id: "c", no_run: true });
    expect(queryOf("c", "all", { show: "denied", kind: "connect", text: " a b " })).toEqual({ channel_id: "c", decision: "refused", kind: "connect", text: "a b" });
    expect(queryOf("c", "all", { ...NO_FILTER, show: "asked" })).toEqual({ channel_id: "c", decision: "asked" });
  });
  it("says who decided, and in colour where that was a person or a denial", () => {
    expect([rec(1), rec(1, { by: "window", scope: "run" }), rec(1, { decision: "expired", by: "time" }), rec(1, { by: "an answer for this run" })].map(byWords))
      .toEqual(["startup.shell", "you, this run", "nobody answered", "an answer for this run"]);
    expect([rec(1), rec(1, { digest: "d" }), rec(1, { decision: "denied" }), rec(1, { decision: "withdrawn" })].map(toneOf)).toEqual(["", "yes", "no", ""]);
    expect(objectWords(rec(1, { kind: "counted", target: "", rule: "x" }))).toBe("calls that x covers");
    const counts = { entries: 2, calls: 4, asked: 1, denied: 0, files: 2, programs: 0, sockets: 0, sites: 0, counted: 0, groups: [], answer_ms: 29_000 };
    expect(summaryWords(counts)).toBe("2 entries · 4 calls · 29 s to answer on average");
    expect(summaryWords({ ...counts, calls: 2, answer_ms: 0 })).toBe("2 entries");
  });
  it("drafts a rule of an act, on that object alone", () => {
    const written = (more: Partial<GateRecord>) => {
      const d = draftOfRecord(rec(1, more));
      return d && [d.class, d.scope, missingOf(d), ruleOf(d)];
    };
    expect(written({ target: "/a/{b}*" })).toEqual(["file_rules", "project", "", '{"paths":["/a/\\\\{b\\\\}\\\\*"],"operations":["write"],"decision":"allow"}']);
    expect(written({ kind: "connect", target: "@x", decision: "denied" })).toEqual(["path_rules", "project", "", '{"pattern":"@x","decision":"deny"}']);
    expect(written({ operation: "rewind" })?.[2]).toBe("Choose an operation."); // never all of them
    expect([written({ kind: "counted" }), written({ kind: "execve", target: "git push" }), written({ target: "" })]).toEqual([null, null, null]);
  });
  it("drafts none of what is never remembered, and none of a name that the editor would read as another one", () => {
    expect([rec(1), rec(1, { category: "credential" }), rec(1, { category: "credential", decision: "denied" }), rec(1, { kind: "counted" })].map(noRuleWords))
      .toEqual(["", "This is never remembered: no rule allows it.", "", "This entry names no object that a rule could name."]);
    for (const target of ["/a\n/**", "/a ", "/a\u202e", "/a\rb"]) expect(noRuleWords(rec(1, { target })), JSON.stringify(target)).toContain("cannot be seen");
  });
  it("says where a chain is broken", () => {
    const chain = { at: at(1), days: 2, entries: 9, breaks: [{ day: "2026-11-22", entry: 8, text: "Entry 8 does not follow 7." }] };
    expect(brokenWords(chain)).toBe("The record is not as it was written. 2026-11-22: Entry 8 does not follow 7.");
    expect([brokenWords({ ...chain, breaks: [] }), brokenWords(null)]).toEqual(["", ""]);
  });
});
