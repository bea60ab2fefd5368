import { expect, it } from "vitest";
import type { CopyComparison, CopyDifference } from "../api/types";
import { countsOf, lossesOf, marksOf, rowsOf, sideBySide, stateSentence, tickedAtFirst, wayOf } from "./workspace";

const diff = (path: string, state: string): CopyDifference => ({ path, state, copy_bytes: 1, original_bytes: 1, mark: `m-${path}` });
const comparison = (...differences: CopyDifference[]): CopyComparison => ({ original: "/p", copy: "/c", differences, left: [] });

const some = comparison(diff("cmd/api/main.go", "changed"), diff("go.mod", "changed"), diff("internal/a.go", "new"), diff("internal/b.go", "both"), diff("internal/c.go", "original-changed"), diff("x.md", "removed"));
const shown = (c: CopyComparison, turned: string[] = [], filter = "") => rowsOf(c, new Set(turned), filter).map((r) => (r.kind === "folder" ? `${r.path}/ ${r.count} ${r.open}` : `${"  ".repeat(r.level - 1)}${r.name}`));

it("says which way each difference goes", () => {
  expect(some.differences?.map((d) => `${wayOf(d)}: ${stateSentence(d)}`)).toEqual([
    "promote: changed in the copy", "promote: changed in the copy", "promote: new in the copy", "choose: changed in both", "pull: changed in the original", "promote: removed in the copy",
  ]);
  expect(wayOf(diff("a", "of a later Loop"))).toBe("choose");
  expect([...tickedAtFirst(some)]).toEqual(["cmd/api/main.go", "go.mod", "internal/a.go", "x.md"]);
  const all = new Set(some.differences?.map((d) => d.path));
  expect(marksOf(some, all, "pull")).toEqual({ "internal/c.go": "m-internal/c.go" });
  expect(marksOf(some, new Set(["go.mod", "gone"]), "promote")).toEqual({ "go.mod": "m-go.mod" });
  expect(lossesOf(some).map((d) => d.path)).not.toContain("internal/c.go");
});

it("groups files by folder, closed where there are many", () => {
  expect(shown(some)).toEqual(["cmd/api/ 1 true", "  main.go", "internal/ 3 true", "  a.go", "  b.go", "  c.go", "go.mod", "x.md"]);
  expect(shown(some, ["internal"])).toContain("internal/ 3 false");
  expect(shown(some, ["internal"], "B.go")).toEqual(["internal/ 1 true", "  b.go"]);
  const many = comparison(...Array.from({ length: 61 }, (_, i) => diff(`d/${i}`, "new")));
  expect(shown(many)).toEqual(["d/ 61 false"]);
  expect(shown(many, ["d"]).length).toBe(62);
});

it("sets two texts side by side, near the changes", () => {
  const a = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
  const b = [...a];
  b.splice(9, 1, "other", "more");
  const pairs = sideBySide(`${a.join("\n")}\n`, `${b.join("\n")}\n`);
  expect(pairs?.map((p) => `${p.leftNo} ${p.rightNo} ${p.kind}`)).toEqual([
    "0 0 cut", "7 7 same", "8 8 same", "9 9 same", "10 10 change", "0 11 change", "11 12 same", "12 13 same", "13 14 same", "0 0 cut",
  ]);
  expect(countsOf(pairs ?? [])).toEqual({ added: 2, removed: 1 });
  expect(sideBySide("", "new\n")).toEqual([{ left: "", leftNo: 0, right: "new", rightNo: 1, kind: "change" }]);
  expect(sideBySide("gone", "")).toEqual([{ left: "gone", leftNo: 1, right: "", rightNo: 0, kind: "change" }]);
  expect(sideBySide("same\n", "same\n")).toEqual([{ left: "", leftNo: 0, right: "", rightNo: 0, kind: "cut" }]);
});
