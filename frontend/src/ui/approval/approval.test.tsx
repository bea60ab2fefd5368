// What the card of a held call says, drawn without a browser.
import "../../test/browser";
import type { ReactElement } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Approval, ApprovalOffer } from "../../api/types";
import { ApprovalBanner } from "./ApprovalBanner";
import { ApprovalCard } from "./ApprovalCard";
import { ApprovalLine } from "./ApprovalLine";
import { ApprovalRule } from "./ApprovalRule";

const html = (el: ReactElement) => renderToString(el).replaceAll("<!-- -->", "");
const words = (el: ReactElement) => html(el).replace(/<[^>]*>/g, "|").replace(/\|+/g, "|");
const act = { answer: async () => undefined, answerGroups: async () => undefined, extend: async () => undefined, go: () => undefined, stop: () => undefined };
const offer = (scope: ApprovalOffer["scope"], more: Partial<ApprovalOffer> = {}): ApprovalOffer => ({ scope, pattern: "/home/ana/.git*", rule: '{"decision":"allow"}', ...more });
const approval = (more: Partial<Approval> = {}): Approval => ({
  approval_id: "a", channel_id: "c", run_id: "r", spawn_id: "s", kind: "file", state: "waiting", operation: "write", target: "/home/ana/.gitconfig", calls: 1, title: "Write to a start-up file",
  why: "the default is to ask", processes: [{ pid: 2, exe: "/usr/bin/git", command: "git config x y" }, { pid: 1, exe: "/usr/local/bin/claude", command: "claude -p" }], digest: "d",
  created_at: "2026-11-22T14:00:00Z", deadline: new Date(Date.now() + 250_000).toISOString(), ...more,
});
const card = (more: Partial<Approval> = {}) => words(<ApprovalCard a={approval(more)} nth={1} of={3} act={act} />);

// The clock stands still, as a machine may between a deadline and the card that counts down to it.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

describe("the card of a held call", () => {
  it("says who, what, why and how long, in the order of its buttons: deny, allow once", () => {
    const said = card({ consequence: "changes Git everywhere" });
    for (const part of ["Write to a start-up file", "1 of 3", "/home/ana/|", ".gitconfig", "claude|", "git config x y", "the default is to ask", "changes Git everywhere", "+5 min"]) expect(said).toContain(part);
    expect(said).toContain("denied in 4:10");
    expect(said.indexOf("Deny |Esc")).toBeLessThan(said.indexOf("Allow once |Ctrl ↵"));
  });
  it("waits for the person where it has no time", () => {
    const said = card({ deadline: undefined });
    expect(said).toContain("waits until you answer");
    expect(said).not.toContain("+5 min");
    expect(card({ processes: null })).not.toMatch(/Who|Asked as/);
  });
  it("has a third button and a rule only where an answer may be remembered", () => {
    expect(card()).not.toMatch(/Show the rule|for this run/);
    expect(card({ offers: [offer("run"), offer("project")] })).toMatch(/Allow for this run.*Show the rule/);
    expect(card({ offers: [offer("once")] })).not.toContain("Show the rule");
    expect(card({ category: "credential" })).toContain("An answer to this is never remembered");
  });
  it("names what hides, and keeps the end of a long path", () => {
    const said = card({ target: `/tmp/${"deep/".repeat(100)}a\u202eb\nend.sh `, asked_as: "x\u001b[2Jy", from: "/tmp/from" });
    for (const part of ["RLO", "LF", "end.sh", "|SP|", "…", "|ESC|[2Jy", "from |/tmp/from", "Show all 516 characters"]) expect(said).toContain(part);
  });
  it("says what a change is where it is not known, and shows it where it is", () => {
    expect(card({ in_place: true, diff_note: "What it will write is not known yet." })).toMatch(/Change.*What it will write is not known yet/);
    expect(card({ diff: "@@ -1 +1 @@\n-a\n+b\n", diff_note: "The rest is left out." })).toMatch(/removed.*added.*The rest is left out/);
  });
  it("marks what a process says of itself, and not what the kernel says", () => {
    expect(card()).toContain("claude| |→|starts| |git|, |says it is| |git config x y");
    expect(card({ processes: [{ pid: 2, exe: "/tmp/x", command: "git\u202e push" }] })).toMatch(/Who\|x\|, \|says it is\| \|git\|⟨?RLO/);
    expect(card({ processes: [{ pid: 2, command: "git push" }] })).toContain("a program, |says it is| |git push");
  });
  it("shows the facts that no other field says", () => {
    expect(card({ details: [{ label: "Link target", text: "/etc/\u202epasswd" }] })).toMatch(/Link target\|+\/etc\/\|.*RLO/);
  });
  it("takes the focus as a whole, with its keys named, and no button has it", () => {
    const tag = /<section[^>]*>/.exec(html(<ApprovalCard a={approval()} nth={1} of={1} act={act} />))?.[0] ?? "";
    expect(tag).toMatch(/role="group"/);
    expect(tag).toMatch(/tabindex="0"/i);
    expect(tag).toContain('aria-keyshortcuts="Escape Control+Enter"');
    expect(tag).toContain("data-deaf");
    expect(html(<ApprovalCard a={approval()} nth={1} of={1} act={act} />)).not.toContain("autofocus");
  });
});

describe("the card of a run that asks too much", () => {
  const group = { id: "g", kind: "file" as const, operation: "write", target: "/home/ana/.npm/\u202ea", wide: "/**", calls: 22, first: "2026-11-22T14:00:00Z", last: "2026-11-22T14:00:38Z", items: [] };
  const secret = { ...group, id: "k", operation: "read", target: "/home/ana/.npmrc", wide: "", category: "credential", once_only: true, why: "it holds a token", calls: 1 };
  it("has groups with answers of their own, of which none is chosen", () => {
    const el = <ApprovalCard a={approval({ kind: "flood", calls: 23, target: "", groups: [group, secret], other_processes: 3 })} nth={1} of={1} act={act} />;
    const said = words(el);
    for (const part of ["it asked 23 times in 38 s", "Each of its 23 calls waits at the kernel", "Answer 0 of 23", "Deny all 23", "Stop the run", "all 23 denied in 4:", "Why paused", "and 3 more processes",
      "RLO", "|/**|", "Deny|Allow in this run|One by one", "never a rule: |it holds a token", "Deny|Allow once|", "Nothing is chosen yet."]) expect(said).toContain(part);
    expect(said).not.toMatch(/Asked as|If allowed/);
    expect(html(el)).not.toContain('aria-pressed="true"');
    expect(html(el)).toContain("22 calls: write to /home/ana/.npm/⟨RLO⟩a/**, no answer chosen");
  });
});

describe("the rule of an answer", () => {
  it("is that of the chosen scope, with what it would have matched", () => {
    const a = approval({ offers: [offer("run"), offer("always", { pattern: "/home/**", of: 500, matches: [{ at: "2026-11-22T14:00:00Z", what: "git config", decision: "denied" }] })] });
    const said = words(<ApprovalRule a={a} choice={{ allow: true, scope: "always" }} onChoice={() => undefined} />);
    for (const part of ["This run", "Always", "kept for all projects", "Allow", "/home/", "**", "Would have matched |1| of the last 500 decisions", "you denied it", "You denied one of these"]) expect(said).toContain(part);
    expect(words(<ApprovalRule a={a} choice={{ allow: false, scope: "run" }} onChoice={() => undefined} />)).toContain("Deny");
  });
});

describe("a held call", () => {
  it("that needs no answer any more is a line with who, how far and when", () => {
    const said = words(<ApprovalLine a={approval({ state: "allowed", scope: "run", by: "window", resolved_at: "2026-11-22T14:01:12Z" })} />);
    expect(said).toContain("Allowed for this run");
    expect(said).toContain("write to |/home/ana/.gitconfig");
    expect(said).toContain("by you after 1 m 12 s");
  });
  it("in another pane is a banner", () => {
    expect(words(<ApprovalBanner a={approval()} more={2} note="It stands still." onReview={() => undefined} />)).toMatch(/git wants to write to.*\/home\/ana\/.gitconfig.*2 more.*It stands still.*Review/);
  });
});
