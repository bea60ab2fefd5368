import { describe, expect, it } from "vitest";
import type { Approval, ApprovalGroup } from "../api/types";
import type { Chosen } from "./gate-flood";
import { answered, answersOf, choose, floodKey, floodTitle, groupName, leftWords, verdictsOf, verdictWords } from "./gate-flood";

const group = (id: string, calls: number, more: Partial<ApprovalGroup> = {}): ApprovalGroup => ({
  id, kind: "file", operation: "write", target: `/home/ana/${id}`, calls, first: "2026-11-22T14:00:00Z", last: "2026-11-22T14:00:38Z", items: [], ...more,
});
const flood = (groups: ApprovalGroup[], more: Partial<Approval> = {}) => ({ kind: "flood", run_id: "r", calls: groups.reduce((n, g) => n + g.calls, 0), groups, ...more }) as Approval;
const press = (key: string, more = {}) => ({ key, mod: false, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });

describe("groups of a flood", () => {
  const files = group("files", 14), secret = group("secret", 1, { once_only: true });
  it("offer what their calls can have", () => {
    expect([verdictsOf(files), verdictsOf(secret)]).toEqual([["deny", "run", "ask"], ["deny", "once"]]);
    expect([verdictWords("run", { run_id: "r" }), verdictWords("run", {})]).toEqual(["Allow in this run", "Allow in this program"]);
  });
  it("are chosen, chosen otherwise, and taken back", () => {
    let c: Chosen = {};
    c = choose(c, files, "run");
    c = choose(c, files, "deny");
    expect(c).toEqual({ files: "deny" });
    expect(choose(c, files, "deny")).toEqual({});
    expect(choose(c, secret, "run")).toBe(c);
    expect(choose(c, files, "once")).toBe(c);
  });
  it("that are not there any more are not answered", () => {
    expect(answersOf([files], { files: "run", gone: "run" })).toEqual([{ id: "files", verdict: "run" }]);
    expect(answersOf([files], {})).toEqual([]);
  });
  it("say what stays held", () => {
    const all = flood([files, group("program", 2), secret]);
    expect(leftWords(all, {})).toMatch(/Nothing is chosen yet/);
    expect(leftWords(all, { files: "run" })).toBe("2 of 3 groups have no answer yet; their 3 calls stay held.");
    expect(leftWords(all, { files: "run", program: "deny" })).toBe("1 of 3 groups has no answer yet; its call stays held.");
    expect(leftWords(all, { files: "run", program: "deny", secret: "once" })).toMatch(/the run goes on/);
    expect(leftWords(flood([files], { calls: 20 }), { files: "deny" })).toBe("6 more calls in further groups stay held.");
    expect(answered(all, { files: "run", gone: "deny" })).toBe(14);
  });
  it("have names and a title", () => {
    expect(groupName({ ...files, wide: "/**" }, "write to", { files: "run" }, { run_id: "r" })).toBe("14 calls: write to /home/ana/files/**, chosen: Allow in this run");
    expect(floodTitle(flood([files]))).toBe("This run is paused: it asked 14 times in 38 s");
    expect(floodTitle(flood([], { calls: 1, run_id: "" }))).toBe("This program is paused: it asked 1 time within a second");
  });
});

describe("keys in the card of a flood", () => {
  it("walk, open and choose, and only two of them answer", () => {
    expect(["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End"].map((k) => floodKey(press(k), false))).toEqual(["down", "up", "open", "close", "first", "last"]);
    expect([floodKey(press("d"), false), floodKey(press("A"), false), floodKey(press("a"), true), floodKey(press("o"), false)]).toEqual([{ choose: "deny" }, { choose: "run" }, { choose: "once" }, { choose: "ask" }]);
    expect([floodKey(press("Escape"), false), floodKey(press("Enter", { mod: true, ctrlKey: true }), false)]).toEqual(["deny-all", "send"]);
    expect([floodKey(press("Enter"), false), floodKey(press("5"), false), floodKey(press("Escape", { repeat: true }), false)]).toEqual(["nothing", "nothing", "nothing"]);
    expect([floodKey(press("a", { ctrlKey: true }), false), floodKey(press("x"), false), floodKey(press("F8"), false)]).toEqual(["", "", ""]);
  });
});
