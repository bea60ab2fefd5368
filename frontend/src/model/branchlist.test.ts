import { describe, expect, it } from "vitest";
import type { Branch, BranchList } from "../api/types";
import { branchesFor, placeOf, staysBehind } from "./branchlist";

const branch = (name: string, more: Partial<Branch> = {}): Branch => ({ name, at_ms: 0, subject: "", ...more });
const list = (changes: number, changed: string[]): BranchList => ({ branches: [], changes, changed });

describe("branches", () => {
  it("are found by words in any order", () => {
    const all = [branch("main"), branch("fix/login-test"), branch("feat/login")];
    expect(branchesFor(all, "").map((b) => b.name)).toEqual(["main", "fix/login-test", "feat/login"]);
    expect(branchesFor(all, "LOGIN fix").map((b) => b.name)).toEqual(["fix/login-test"]);
    expect(branchesFor(Array.from({ length: 80 }, (_, i) => branch(`b${i}`)), "b")).toHaveLength(50);
  });
  it("say where they are checked out", () => {
    expect([branch("a", { current: true, where: "/p" }), branch("b", { where: "/p/w", in: "login" }), branch("c", { where: "/elsewhere" }), branch("d")].map(placeOf)).toEqual(["current", "in “login”", "checked out elsewhere", ""]);
  });
  it("begin without what is not committed", () => {
    expect(staysBehind(null)).toBe("");
    expect(staysBehind(list(0, []))).toBe("");
    expect(staysBehind(list(1, ["a.go"]))).toBe("1 file of this folder has changes that are not committed: a.go. They stay here: the worktree begins without them.");
    expect(staysBehind(list(9, ["a", "b", "c", "d"]))).toContain("a, b, c and 6 more.");
  });
});
