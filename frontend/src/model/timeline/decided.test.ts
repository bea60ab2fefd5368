import { describe, expect, it } from "vitest";
import type { GateDecisions, LoopEvent } from "../../api/types";
import { fold } from "./build";
import { decidedLine, deniedCalls } from "./decided";
import { passes } from "./filter";
import { isFoldable } from "./fold";
import type { Item } from "./items";
import { emptyBuilt } from "./items";

let id = 0;
const event = (type: string, data: unknown, run = "r") => ({ seq: 0, id: ++id, type, channel_id: "c", run_id: run, timestamp: id, data }) as LoopEvent;
const tool = (use: string) => event("tool.use", { tool_use_id: use, tool_name: "Bash", input: {} });
const denial = (target: string, calls = 1, more: object = {}) => ({ id: "d", state: "denied", by: "a rule", kind: "file", operation: "read", target, rule: "credential.home", calls, ...more });
const decided = (use: string, more: object = {}, run = "r") => event("gate.decided", { tool_use_id: use, ...more }, run);
const items = (events: LoopEvent[]): Item[] => fold(emptyBuilt, events).items;
const rows = (events: LoopEvent[]) => items(events).map((row) => (row.kind === "tool" ? row.useId : row.kind === "decided" ? decidedLine(row.decided) : row.kind));
const one = (more: object) => items([decided("t", more)])[0] as Item & { kind: "decided" };

describe("what the gate decided without asking", () => {
  it("is one line below its tool call, however often it is told", () => {
    const said = [tool("t1"), tool("t2"), decided("t1", { allowed: 200, rules: [{ rule: "a", operation: "read", calls: 200 }], decisions: [denial("/k", 2)] }),
      decided("t1", { allowed: 14, rules: [{ rule: "a", operation: "read", calls: 14 }], decisions: [denial("/k")] })];
    expect(rows(said)).toEqual(["t1", "214 calls allowed by rules · 3 denied: rule credential.home × 3", "t2"]);
    const line = items(said)[1] as Item & { kind: "decided" };
    expect(line.decided.rules).toEqual([{ rule: "a", operation: "read", calls: 214 }]);
    expect(line.decided.decisions).toHaveLength(1);
    expect(items(said.slice(0, 3))[1]?.key).toBe(line.key);
  });
  it("of no known call stands where it came", () => {
    expect(rows([tool("t1"), decided("", { allowed: 1 }), decided("", { allowed: 2 }), tool("t2"), decided("", { more: 4 }), decided("", { more: 1 }, "other")])).toEqual([
      "t1", "3 calls allowed by rules", "t2", "4 denied", "1 denied",
    ]);
  });
  it("says by what, also where no rule did", () => {
    expect(decidedLine(one({ decisions: [denial("/a", 1, { rule: "" , by: "the default" })] }).decided)).toBe("1 denied: the policy's default");
    expect(decidedLine(one({ decisions: [denial("/a", 1, { by: "the policy" }), denial("/b", 3)] }).decided)).toBe("4 denied: rule credential.home × 3 …");
    expect(decidedLine(one({ allowed: 1, missed: 2, decisions: [denial("/a", 5, { state: "allowed", by: "an answer for this run" })] }).decided))
      .toBe("1 call allowed by rules · 5 allowed by earlier answers · 2 reports of the gate lost");
  });
  it("lists a bounded number of decisions, and counts the others", () => {
    const many = Array.from({ length: 300 }, (_, i) => decided("t", { decisions: [denial(`/k${i}`)] }));
    const d = (items([tool("t"), ...many])[1] as Item & { kind: "decided" }).decided;
    expect([d.decisions?.length, deniedCalls(d)]).toEqual([200, 300]);
  });
  it("of the wrong shape breaks nothing", () => {
    const bad = one({ allowed: "many", rules: [null, 3], decisions: [{ calls: -1, state: {}, target: ["x"] }], more: NaN } as unknown as GateDecisions);
    expect(bad.decided).toMatchObject({ allowed: 0, more: 0, rules: [{ calls: 0 }, { calls: 0 }], decisions: [{ state: "denied", calls: 1, target: '["x"]' }] });
  });
  it("is among the problems where something was denied, and opens", () => {
    const filters = ["all", "messages", "files", "problems"] as const;
    expect(filters.map((f) => passes(one({ allowed: 2 }), f))).toEqual([true, false, false, false]);
    expect(filters.map((f) => passes(one({ decisions: [denial("/k")] }), f))).toEqual([true, false, false, true]);
    expect(isFoldable(one({ allowed: 2 }))).toBe(true);
  });
});
