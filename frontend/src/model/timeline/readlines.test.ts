import { expect, it } from "vitest";
import { readLines } from "./readlines";

it("takes the numbers off the lines of a file, in both ways of writing them", () => {
  expect(readLines("    52→func F() {\n    53→\treturn // → 1\n    54→}")).toEqual({ first: 52, lines: ["func F() {", "\treturn // → 1", "}"], rest: "" });
  expect(readLines("9\ta\n10\t\n11\tb\r\n")).toEqual({ first: 9, lines: ["a", "", "b"], rest: "" });
});

it("keeps what is no line of the file", () => {
  expect(readLines("1→a\n\n<system-reminder>\nmind this\n</system-reminder>\n")).toEqual({ first: 1, lines: ["a"], rest: "<system-reminder>\nmind this\n</system-reminder>" });
  expect(readLines("1→a\n7→b\n")).toEqual({ first: 1, lines: ["a"], rest: "7→b" });
  expect(readLines("File not found")).toBeNull();
  expect(readLines("")).toBeNull();
});

it("is bounded", () => {
  const many = readLines(Array.from({ length: 9000 }, (_, i) => `${i + 1}→x`).join("\n"));
  expect([many?.lines.length, many?.rest]).toEqual([2000, "The lines that follow are left out here."]);
  const long = readLines(`1→${"x".repeat(5_000_000)}`);
  expect([long?.lines[0]?.length, long?.rest !== ""]).toEqual([199_998, true]);
});
