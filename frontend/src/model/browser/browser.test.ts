import { describe, expect, it } from "vitest";
import type { BrowserLine } from "../../api/browser-messages";
import { batonStore, givesBack } from "./baton";
import { ago, deedLabel } from "./deed";
import { answered, asked, consoleRows, Recall } from "./evaluated";
import { stripMode } from "./strip";

describe("the strip of pages", () => {
  it.each([[1, 60, "names"], [3, 480, "names"], [6, 500, "icons"], [20, 1000, "icons"], [20, 600, "list"], [5, 300, "list"]])("%s pages in %s pixels are %s", (n, width, mode) => expect(stripMode(n, width)).toBe(mode));
});

describe("what the agent did", () => {
  it.each([["clicked “Continue”", "Click “Continue”"], ["filled in “Email”", "Fill in “Email”"], ["double-clicked", "Double-click"], ["went back", "Went back"], ["", ""]])("%s reads %s", (text, label) => expect(deedLabel(text)).toBe(label));
  it("was some time ago", () => expect([0, 6000, 89_000, 600_000].map(ago)).toEqual(["now", "6 s ago", "89 s ago", "10 min ago"]));
});

describe("the console", () => {
  const line = (seq: number, text = `line ${seq}`): BrowserLine => ({ seq, time: seq, level: "log", text, source: "" });
  it("has what was evaluated where it was typed", () => {
    let all = asked([], { id: 1, time: 1, after: 2, expression: "1 + 1" });
    all = asked(all, { id: 2, time: 1, after: 3, expression: "boom" });
    all = answered(all, 2, "ReferenceError", true);
    const keys = (filter = "") => consoleRows([line(1), line(2), line(3)], all, filter).map((r) => r.key);
    expect(keys()).toEqual(["l1", "l2", "e1", "l3", "e2", "r2"]);
    all = answered(all, 1, "2", false);
    expect(keys()).toEqual(["l1", "l2", "e1", "r1", "l3", "e2", "r2"]);
    expect(keys("REFERENCE")).toEqual(["e2", "r2"]);
    expect(consoleRows([], all, "").map((r) => r.key)).toEqual(["e1", "r1", "e2", "r2"]);
  });
  it("keeps the newest hundred", () => {
    let all = asked([], { id: 0, time: 0, after: 0, expression: "" });
    for (let id = 1; id < 300; id++) all = asked(all, { id, time: 0, after: 0, expression: "x" });
    expect(all.length).toBe(100);
    expect(all.at(-1)?.id).toBe(299);
  });
  it("goes back to earlier expressions and forward to what was being typed", () => {
    const r = new Recall();
    expect(r.step(1, "")).toBeNull();
    r.add("one");
    r.add("two");
    r.add("two");
    expect([r.step(1, "dra"), r.step(1, "two"), r.step(1, "one"), r.step(-1, "one"), r.step(-1, "two"), r.step(-1, "dra")]).toEqual(["two", "one", null, "two", "dra", null]);
  });
});

it("a prompt gives back only while the person drives and the agent waits", () => {
  const give = () => {};
  batonStore.setState({ a: { person: true, waits: true, give }, b: { person: true, waits: false, give } });
  expect(["a", "b", "c"].map((id) => givesBack(batonStore.getState(), id))).toEqual([true, false, false]);
});
