import { describe, expect, it } from "vitest";
import type { GateRule, GateRuleList, GateTry } from "../api/types";
import { answerOf, callOf, callWords, countShown, editOf, moveOf, NO_RULE_FILTER, patternWords, problemOf, remedyWords, ruleGroups, sampleOf, statusOf, stepOf } from "./gate-rules";

const rule = (number: number, more: Partial<GateRule> = {}): GateRule => ({
  number, id: `r${number}`, origin: "yours", class: "file_rules", index: number - 1, decision: "allow", calls: ["write"], patterns: [`~/f${number}`], text: "", hits: 0, recent: 0, scope: "always", rule: `{"id":"r${number}"}`, editable: true, ...more,
});
const list = (rules: GateRule[], more: Partial<GateRuleList> = {}): GateRuleList => ({ channel_id: "c", policy: "agent", mode: "enforce", mode_from: "settings", enabled: true, rules, files: [], version: "1", recent: 0, uncounted: "", ...more });

describe("the rules of the gate", () => {
  it("stand below their files, in their order, and a file that waits stays without rows", () => {
    const rules = [rule(1, { origin: "first" }), rule(2, { origin: "project", path: "/p/a" }), rule(3, { origin: "project", path: "/p/b" }), rule(4), rule(5, { origin: "default", class: "default" })];
    const files = [{ origin: "project" as const, path: "/p/b" }, { origin: "project" as const, path: "/p/c", waiting: ["env"] }];
    const groups = ruleGroups(list(rules, { files }), NO_RULE_FILTER);
    expect(groups.map((g) => [g.key, g.rules.map((r) => r.number)])).toEqual([["first ", [1]], ["project /p/b", [3]], ["project /p/c", []], ["project /p/a", [2]], ["yours ", [4]], ["default ", [5]]]);
  });
  it("are filtered by words, and by what should be looked at", () => {
    const l = list([rule(1), rule(2, { shadowed_by: 1 }), rule(3, { stale: true })]);
    const shown = (f: Parameters<typeof ruleGroups>[1]) => ruleGroups(l, f).flatMap((g) => g.rules.map((r) => r.number));
    expect([shown({ show: "shadowed", text: "" }), shown({ show: "stale", text: "" }), shown({ show: "all", text: " ~/F3 " })]).toEqual([[2], [3], [3]]);
    expect([countShown(l, "all"), countShown(l, "stale")]).toEqual([3, 1]);
    expect((l.rules ?? []).map(remedyWords)).toEqual(["", "Rule 1 matches everything this rule does, and stands before it.", "This rule had no hit in 90 days."]);
    const off = list([rule(1, { off: true }), rule(2)]);
    expect([countShown(off, "off"), remedyWords(rule(1, { off: true, stale: true }))]).toEqual([1, "This rule is off: it counts for nothing."]);
  });
  it("move within their own list alone", () => {
    const l = list([rule(1), rule(2, { shadowed_by: 1 }), rule(3, { shadowed_by: 1, origin: "remembered", index: 0 }), rule(4, { class: "path_rules", index: 0 })]);
    const [a, b, c, d] = l.rules ?? [];
    expect([moveOf(l, b as GateRule), moveOf(l, c as GateRule)]).toEqual([0, null]);
    expect([stepOf(l, a as GateRule, 1), stepOf(l, a as GateRule, -1), stepOf(l, d as GateRule, -1), stepOf(l, { ...(b as GateRule), editable: false }, -1)]).toEqual([1, null, null, null]);
    expect(editOf(l, b as GateRule, { action: "move", to: 0 })).toEqual({ channel_id: "c", scope: "always", class: "file_rules", index: 1, was: '{"id":"r2"}', action: "move", to: 0 });
  });
  it("say what they match, and a call to test them with", () => {
    expect(callWords(rule(1, { calls: ["read", "write", "create", "delete", "chmod", "chown", "link"] }))).toBe("all");
    expect(patternWords(rule(1, { class: "command_rules", patterns: ["terraform"], args: ["apply *"] }))).toBe("terraform apply *");
    expect(sampleOf(rule(1, { patterns: ["~/.cache/{pip,uv}/**"], calls: ["create"] }))).toEqual({ kind: "create", text: "~/.cache/pip/x" });
    expect(sampleOf(rule(1, { class: "default", patterns: [] }))).toBe(null);
  });
  it("are asked about a call that was typed", () => {
    expect([callOf("write", " "), callOf("write", "~/x"), callOf("read", "./a/b"), callOf("run", "git push"), callOf("connect", "@x")])
      .toEqual([null, { operation: "write", path: "~/x" }, { operation: "read", path: "<project>/a/b" }, { line: "git push" }, { connect: "@x" }]);
    const t = (decision: string, now: string) => answerOf({ decision, now } as GateTry);
    expect(t("approve", "approve")).toEqual({ tone: "ask", text: "Yes: you are asked" });
    expect(t("deny", "allow")).toEqual({ tone: "yes", text: "No: allowed without a question. Enforced, it would be denied" });
  });
  it("name the line of a file that cannot be used, and what holds meanwhile", () => {
    const p = { path: "", line: 7, col: 1, field: "", message: "a comma is missing", remedy: "Add one.", warning: false };
    expect(problemOf({ origin: "yours", path: "/f", problems: [p], last_good: true })).toEqual({ line: "/f, line 7: a comma is missing", remedy: "Add one. Its last good version holds." });
    expect(problemOf({ origin: "yours", path: "/f", problems: [{ ...p, warning: true }] })).toBe(null);
    expect(problemOf({ origin: "project", path: "/f", stopped: "It is damaged." })?.remedy).toBe("Nothing starts in this channel until it is corrected.");
  });
  it("have the mode of the channel's folder, or its parent's, where the gate holds at all", () => {
    const on = { state: "on", text: "Gate on", modes: { "/p": "shadow", "/p/w": "enforce" } };
    expect(statusOf(on, { dir: "/p" })?.state).toBe("shadow");
    expect(statusOf(on, { dir: "/q", parent_dir: "/p" })?.text).toBe("Gate only watches here");
    expect(statusOf({ ...on, state: "record" }, { dir: "/p/w", parent_dir: "/p" })?.state).toBe("on");
    expect(statusOf({ ...on, state: "broken" }, { dir: "/p" })?.state).toBe("broken");
    expect(statusOf(on, undefined)).toBe(on);
  });
});
