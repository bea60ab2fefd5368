import { describe, expect, it } from "vitest";
import type { ReviewDiff, ReviewFile, ReviewHunk } from "../api/types";
import { acceptable, acceptedOf, acceptedWords, afterUndo, alsoSeen, bulk, commentsIn, commentsPrompt, countOf, firstChange, hasNoList, linesOf, listed, nameOf, openHunks, pairsOf, partsOf, rangeOf, readComments, readKept, rowsOf, runSentence, scopeOf, sinceSentence, sinceWords, stateSentence, totalsOf, unseen, wholeSentence } from "./review";

const file = (path: string, more: Partial<ReviewFile> = {}): ReviewFile => ({ path, kind: "M", added: 3, removed: 1, staged: 0, unstaged: 2, ...more });
const alarm = { kind: "ci", word: "CI workflow", why: "runs with the secrets of your CI" };
const hunk = (lines: string, more: Partial<ReviewHunk> = {}): ReviewHunk => ({ id: "h", staged: false, old: 10, old_size: 2, new: 12, new_size: 3, section: "", lines, ...more });

describe("the list of files", () => {
  const files = [file("a.go"), file(".github/workflows/ci.yml", { alarm }), file("z.go", { staged: 2, unstaged: 0 })];
  it("has those that reach further first", () => {
    expect(listed(files).map((f) => f.path)).toEqual([".github/workflows/ci.yml", "a.go", "z.go"]);
  });
  it("is of a scope", () => {
    expect((["worktree", "branch", "turn"] as const).map((s) => scopeOf(s, "r1"))).toEqual([{ kind: "worktree" }, { kind: "branch" }, { kind: "run" }]);
    expect(scopeOf("run", "r1")).toEqual({ kind: "run", from: "r1" });
  });
  it("comes back as it was kept, if that can be used", () => {
    expect(readKept({ shown: "run", run: "r1", path: "a.go" })).toEqual({ shown: "run", run: "r1", path: "a.go" });
    expect(readKept({ shown: "turn", run: 3 })).toEqual({ shown: "turn", run: "", path: "" });
    for (const bad of [{}, { shown: "run" }, { shown: "all" }, { shown: 3, run: "r1" }]) expect(readKept(bad)).toBeNull();
  });
  it("says what became of a file since the run", () => {
    for (const since of ["edited", "committed", "other", "outside"]) expect([sinceWords(since), sinceSentence(since)]).toEqual([expect.stringMatching(/./), expect.stringMatching(/\.$/)]);
    expect([sinceWords(undefined), sinceSentence("new")]).toEqual(["", ""]);
    expect(acceptedWords(file("a.go", { since: "committed", staged: 1 }))).toBe("committed");
    const st = { state: "none", branch: "", editable: false, files: [], more: false, odd: 0 };
    expect(runSentence(st)).toBe("");
    expect(runSentence({ ...st, run: "r", until: "now" })).toMatch(/goes on/);
    expect(runSentence({ ...st, run: "r", until: "next", detail: "The engine is off." })).toMatch(/next one.*The engine is off\./);
    expect(runSentence({ ...st, detail: "No repository." })).toBe("");
  });
  it("says what is accepted", () => {
    expect(files.map(acceptedOf)).toEqual(["none", "none", "all"]);
    expect(acceptedWords(file("x", { staged: 1 }))).toBe("1 of 3 accepted");
    expect(acceptedWords(file("x", { staged: 1, unstaged: 0 }))).toBe("accepted");
    expect(acceptedWords(file("x"))).toBe("");
    expect(totalsOf([...files, file("b.bin", { added: -1, removed: -1 }), file(".git/config")])).toEqual({ added: 12, removed: 4, staged: 2, hunks: 8 });
  });
  it("is accepted without those that reach further, until they were opened", () => {
    expect(bulk(files, new Map()).map((f) => f.path)).toEqual(["a.go"]);
    expect(bulk(files, new Map([[".github/workflows/ci.yml", { hunks: ["h"], mark: "" }]]))).toHaveLength(2);
    expect(bulk([file("many.go", { added: -1, removed: -1, unstaged: 1 })], new Map())).toHaveLength(1);
  });
  it("is accepted as it was seen, whatever it is by then", () => {
    const diff = (path: string, ids: string[], more: Partial<ReviewDiff> = {}): ReviewDiff => ({ path, hunks: ids.map((id) => hunk("", { id })), bytes: 1, before: 1, mark: "m1", ...more });
    const ci = ".github/workflows/ci.yml";
    const first = alsoSeen(new Map(), diff(ci, ["a", "b"]));
    expect(first.get(ci)).toEqual({ hunks: ["a", "b"], mark: "" });
    expect(alsoSeen(first, diff("other", ["c"])).get(ci)).toEqual({ hunks: ["a", "b"], mark: "" });
    expect(alsoSeen(first, diff(ci, ["c"])).get(ci)).toEqual({ hunks: ["c"], mark: "" });
    expect(alsoSeen(first, diff(ci, [])).get(ci)).toEqual({ hunks: ["a", "b"], mark: "" });
    expect([...unseen(alsoSeen(first, diff("other", ["c"])), ci).keys()]).toEqual(["other"]);
    expect(acceptable(diff("x", [], { hunks: [hunk("", { id: "a", staged: true }), hunk("", { id: "b" })] }))).toEqual({ hunks: ["b"], mark: "" });
    expect(acceptable(diff("logo.png", ["w"], { whole: "binary" }))).toEqual({ hunks: ["w"], mark: "" });
    for (const d of [diff(".git/config", ["a"]), diff("x", [], { whole: "large" })]) expect(acceptable(d)).toEqual({ hunks: [], mark: "m1" });
    expect(acceptable(diff("x", []))).toBeNull();
  });
  it("has rejections put back one after the other", () => {
    expect(afterUndo(["1", "2"], "2", true)).toEqual(["1"]);
    expect(afterUndo(["1", "2"], "2", false)).toEqual(["2", "1"]);
  });
  it("splits paths", () => {
    expect(nameOf("a/b/c.go")).toEqual({ name: "c.go", dir: "a/b" });
    expect(nameOf("nested/")).toEqual({ name: "nested", dir: "" });
  });
});

describe("hunks", () => {
  it("have numbered lines, side by side", () => {
    const lines = linesOf(hunk(" same\n-gone\n-too\n+new\n tail\n\\ No newline at end of file\n"));
    expect(lines.map((l) => [l.kind, l.oldNo, l.newNo])).toEqual([["same", 10, 12], ["del", 11, 0], ["del", 12, 0], ["add", 0, 13], ["same", 13, 14], ["hunk", 0, 0]]);
    expect(pairsOf(lines)).toEqual([{ left: 0, right: 0 }, { left: 1, right: 3 }, { left: 2, right: -1 }, { left: 4, right: 4 }, { left: 5, right: 5 }]);
    expect(firstChange(lines)).toBe(3);
    expect(firstChange(linesOf(hunk("-a\n")))).toBe(0);
  });
  it("name their lines", () => {
    expect(rangeOf(hunk(""))).toBe("12–14");
    expect(rangeOf(hunk("", { new_size: 1 }))).toBe("12");
    expect(rangeOf(hunk("", { new_size: 0 }))).toBe("10–11");
    expect(rangeOf(hunk("", { new_size: 0, old_size: 0 }))).toBe("");
  });
  it("are open until they are accepted", () => {
    const d: ReviewDiff = { path: "x", hunks: [hunk("", { id: "a", staged: true }), hunk("", { id: "b" })], bytes: 1, before: 1, mark: "m" };
    expect(openHunks(d)).toEqual(["b"]);
    expect(openHunks({ ...d, hunks: null })).toEqual([]);
    expect(wholeSentence(d)).toBe("");
    for (const whole of ["large", "conflict", "submodule", "filter"]) expect(wholeSentence({ ...d, whole, filter: "lfs" })).toMatch(/\.$/);
  });
});

describe("comments", () => {
  it("are those of a hunk by their lines", () => {
    const at = (line: number, old = false) => ({ id: `${line}`, path: "a", line, old, quote: "", text: "t" });
    const h = hunk("", { old: 10, old_size: 2, new: 22, new_size: 3 });
    expect(commentsIn(h, [at(21), at(22), at(24), at(25), at(9, true), at(10, true), at(11, true), at(12, true)]).map((c) => c.line)).toEqual([22, 24, 10, 11]);
  });
  const one = { id: "1", path: "b.go", line: 39, old: false, quote: "\twait, ok := take()", text: "Take it from the file. " };
  it("become one prompt with their places", () => {
    const text = commentsPrompt([one, { ...one, id: "2", path: "a.go", line: 7, old: true, quote: "", text: "Why?" }, { ...one, id: "3", line: 3, text: "No." }]);
    expect(text).toMatch(/these 3 comments/);
    expect(text.indexOf("a.go:7 (a line that was removed)\nWhy?")).toBeLessThan(text.indexOf("b.go:3\n> wait"));
    expect(text).toMatch(/b\.go:39\n> wait, ok := take\(\)\nTake it from the file\.$/);
    expect(commentsPrompt([one])).toMatch(/this comment/);
  });
  it("outlive a page, without what is none", () => {
    expect(readComments(JSON.stringify([one, { id: 3 }, null]))).toEqual([one]);
    expect([readComments(""), readComments("{"), readComments("{}")]).toEqual([[], [], []]);
  });
});

it("says what the repository is at", () => {
  expect([stateSentence("rebase"), stateSentence("none"), stateSentence("no-commits")]).toEqual(["A rebase is under way.", "", ""]);
  expect([hasNoList("submodule"), hasNoList("merge")]).toEqual([true, false]);
});

describe("long differences", () => {
  it("have their lines counted without being read", () => {
    for (const lines of ["", "+a\n", "+a\n-b\n c\n", "+a\n\\ No newline at end of file\n", "+a\n+", "\n"]) expect(countOf(hunk(lines)), JSON.stringify(lines)).toBe(linesOf(hunk(lines)).length);
  });
  it("are made in parts", () => {
    for (const lines of ["", "+a\n", "-a\n+b\n-c\n-d\n+e\n f\n", "+a\n-b\n+c\n", "-a\n-b\n+c\n\\ No newline at end of file\n", " a\n b"]) {
      for (const split of [false, true]) expect(rowsOf(hunk(lines), split), JSON.stringify(lines)).toBe(split ? pairsOf(linesOf(hunk(lines))).length : linesOf(hunk(lines)).length);
    }
    expect([partsOf([], 2), partsOf([1, 2, 3], 2), partsOf([1, 2], 2)]).toEqual([[], [[1, 2], [3]], [[1, 2]]]);
  });
});
