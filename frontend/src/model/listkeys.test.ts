import { expect, test } from "vitest";
import { listKey } from "./listkeys";

test("Enter and Tab wait for a list that has not come, and never reach the prompt before", () => {
  expect(["Enter", "Tab"].map((k) => listKey(k, 0, false))).toEqual(["wish", "wish"]);
  expect(["Enter", "Tab"].map((k) => listKey(k, 3, false))).toEqual(["wish", "wish"]); // of an earlier letter
  expect(["ArrowUp", "ArrowDown", "a"].map((k) => listKey(k, 0, false))).toEqual(["none", "none", "none"]);
});

test("a list without options leaves all keys but Escape alone once it has come", () => {
  expect(["Enter", "Tab", "ArrowUp", "ArrowDown"].map((k) => listKey(k, 0, true))).toEqual(["none", "none", "none", "none"]);
  expect([listKey("Escape", 0, true), listKey("Escape", 0, false)]).toEqual(["close", "close"]);
});

test("the keys of a list that is here", () => {
  expect(["Enter", "Tab", "ArrowDown", "ArrowUp", "x"].map((k) => listKey(k, 2, true))).toEqual(["take", "take", "next", "previous", "none"]);
});
