import { expect, test } from "vitest";
import { leavesText, rowsIn } from "./promptedge";

const draft = "a paragraph that goes over three rows of the box, because it is long";

test("an arrow key leaves a text of one row at once, and one of several where the caret stays", () => {
  expect([leavesText("", 0, true, 1), leavesText("short", 3, true, 1), leavesText("short", 3, false, 1)]).toEqual(["yes", "yes", "yes"]);
  expect([leavesText(draft, draft.length, true, 3), leavesText(draft, 0, true, 3), leavesText(draft, 30, false, 3)]).toEqual(["look", "look", "look"]);
});

test("an arrow key with a line before it stays in the text", () => {
  expect([leavesText("one\ntwo", 5, true, 2), leavesText("one\ntwo", 2, true, 2)]).toEqual(["no", "look"]);
  expect([leavesText("one\ntwo", 2, false, 2), leavesText("one\ntwo", 5, false, 2)]).toEqual(["no", "look"]);
});

test("rows are counted by their height, and a higher box of one is one", () => {
  expect([rowsIn(26, 22.5), rowsIn(26, 15), rowsIn(45, 22.5), rowsIn(44.6, 22.5), rowsIn(67.5, 22.5)]).toEqual([1, 1, 2, 2, 3]);
  expect(rowsIn(26, Number.NaN)).toBe(2); // not known: the caret tells
});
