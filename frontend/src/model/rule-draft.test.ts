import { describe, expect, it } from "vitest";
import type { GateRule, GateRuleList, GateRuleMatches, GateSuggestion } from "../api/types";
import { candidateOf, draftOf, matchWords, missingOf, NEW_RULE, OPERATIONS, ruleOf, savedOf, savingOf, shadowWords, suggestionWords } from "./rule-draft";

const row = (number: number, more: Partial<GateRule> = {}): GateRule => ({
  number, id: `r${number}`, origin: "yours", class: "file_rules", index: number - 1, decision: "allow", calls: [], patterns: [], text: `Rule of ${number}.`, hits: 0, recent: 0, scope: "always", rule: "{}", editable: true, ...more,
});
const list = { channel_id: "c", rules: [row(1, { origin: "remembered", index: 0, scope: "project" }), row(2, { index: 0 }), row(3, { index: 1 })] } as GateRuleList;

describe("a rule that is written", () => {
  it("is the same JSON again when nothing was changed, with what the editor does not show", () => {
    for (const [cls, rule] of [
      ["file_rules", '{"id":"a","paths":["/a/**","/b"],"operations":["write","create"],"decision":"allow","message":"why","advice":"Ask.","off":true}'],
      ["file_rules", '{"paths":["/a"],"decision":"deny"}'],
      ["command_rules", '{"commands":["git","hg"],"args_patterns":["^push\\\\b"],"decision":"approve"}'],
      ["command_rules", '{"args_patterns":["--force"],"decision":"deny"}'],
      ["path_rules", '{"pattern":"@x","decision":"deny"}'],
    ] as const) expect(ruleOf(draftOf(rule, cls, "always", null))).toBe(rule);
  });
  it("has one pattern on each line, and says nothing of operations when all are meant", () => {
    const d = { ...NEW_RULE, patterns: " /a \r\n\n/b", operations: ["link", ...OPERATIONS], message: " " };
    expect(ruleOf(d)).toBe('{"paths":["/a","/b"],"decision":"approve"}');
    expect(ruleOf({ ...d, operations: ["read"] })).toBe('{"paths":["/a","/b"],"operations":["read"],"decision":"approve"}');
  });
  it("is not asked about before it says what it is for: an empty list would match everything", () => {
    expect(missingOf(NEW_RULE)).toContain("/**");
    expect(missingOf({ ...NEW_RULE, patterns: "/a", operations: [] })).toBe("Choose an operation.");
    expect(missingOf({ ...NEW_RULE, class: "command_rules", args: "\n" })).toContain("program");
    expect(missingOf({ ...NEW_RULE, class: "path_rules", patterns: " " })).toContain("socket");
    expect([missingOf({ ...NEW_RULE, patterns: "/a" }), missingOf({ ...NEW_RULE, class: "command_rules", args: "x" })]).toEqual(["", ""]);
  });
  it("names sites by their hosts alone", () => {
    const d = { ...NEW_RULE, class: "site_rules" as const, patterns: "https://Example.com:8443/x?y\n*.Example.com.\n*\nhttp://me@b.org\n[2001:db8::1]:80/" };
    expect(JSON.parse(ruleOf(d))).toEqual({ sites: ["example.com", "*.example.com", "*", "b.org", "[2001:db8::1]"], decision: "approve" });
    expect([missingOf(d), missingOf({ ...d, patterns: " " })]).toEqual(["", "Name a site, for example example.com. * is all of them."]);
    expect(draftOf('{"sites":["a.com","*.a.com"],"decision":"deny"}', "site_rules", "always", null)).toMatchObject({ patterns: "a.com\n*.a.com", decision: "deny", rest: {} });
  });
  it("stands before the others of its list, and a changed one in its place", () => {
    const fresh = { ...NEW_RULE, patterns: "/a" };
    const rule = ruleOf(fresh);
    expect(candidateOf(fresh)).toEqual({ class: "file_rules", rule, scope: "project", index: 0, replaces: false });
    expect(savingOf(list, fresh)).toEqual({ channel_id: "c", action: "add", scope: "project", class: "file_rules", index: 0, rule });
    expect(savedOf(list, fresh)?.number).toBe(1);
    const d = draftOf('{"paths":["/a"],"decision":"deny"}', "file_rules", "always", row(3, { index: 1, rule: "was" }));
    expect(candidateOf(d)).toMatchObject({ scope: "always", index: 1, replaces: true });
    expect(savingOf(list, d)).toEqual({ channel_id: "c", scope: "always", class: "file_rules", index: 1, was: "was", action: "change", rule: '{"paths":["/a"],"decision":"deny"}' });
    expect(savedOf(list, d)?.number).toBe(3);
  });
  it("says what it would do to other rules, and what it would have matched", () => {
    const m: GateRuleMatches = { text: "", matches: [], total: 0, of: 500, denied: 0 };
    expect(shadowWords(list, { ...m, shadowed_by: "r1", shadows: ["r2", "gone"] })).toEqual([
      "Rule 1 (Rule of 1) comes before it and matches all that it does, so it would never count.", "It leaves nothing for rule 2 (Rule of 2).", "It leaves nothing for rule gone.",
    ]);
    expect([matchWords({ ...m, of: 0 }), matchWords(m), matchWords({ ...m, total: 12, denied: 1 })])
      .toEqual(["Nothing was decided here yet that it could be tried on.", "Would have matched none of the last 500 decisions.", "Would have matched 12 of the last 500 decisions; 1 of them was denied."]);
    const s: GateSuggestion = { class: "file_rules", rule: "", text: "", from: "answers", asked: 41, runs: 4, channels: 1, denied: 0 };
    expect([suggestionWords(s), suggestionWords({ ...s, from: "shadow", asked: 1, runs: 0 })])
      .toEqual(["You allowed 41 questions like this by hand, in 4 runs.", "1 call would have been asked about."]);
  });
});
