import { describe, expect, it } from "vitest";
import type { SettingsField } from "../api/types";
import { read, shown } from "./settings";

const field = (kind: string, value: unknown = null) => ({ field: "f", kind, value, layers: [] }) as unknown as SettingsField;

describe("a field as it is typed", () => {
  it.each([
    ["string", "text", "text"], ["string", null, ""], ["string", undefined, ""], ["integer", 13, "13"], ["boolean", false, "false"],
    ["list", ["a", "b c"], "a\nb c"], ["list", [], ""], ["object", {}, ""], ["object", { A: "1" }, '{\n  "A": "1"\n}'],
  ])("%s %j", (kind, value, text) => expect(shown(field(kind, value))).toBe(text));

  it("comes back as it was", () => {
    for (const [kind, value] of [["string", "x"], ["integer", 7], ["number", 1.5], ["list", ["a", "b"]], ["object", { A: { b: [1] } }]] as const) {
      expect(read(field(kind), shown(field(kind, value)))).toEqual({ value });
    }
  });
});

describe("what was typed", () => {
  it.each([
    ["integer", "x", "Type a whole number."], ["integer", "", "Type a whole number."], ["integer", "1.5", "Type a whole number."], ["integer", "1e999", "Type a whole number."],
    ["number", "", "Type a number."], ["number", "NaN", "Type a number."],
    ["object", "{", "This is not JSON. Check its quotes, commas and braces."], ["object", "[1]", 'Type a JSON object, like {"NAME": "value"}.'], ["object", "null", 'Type a JSON object, like {"NAME": "value"}.'],
  ])("%s %j is wrong: %s", (kind, text, wrong) => expect(read(field(kind), text)).toEqual({ wrong }));

  it("loses blank lines of a list, and nothing of a text", () => {
    expect(read(field("list"), " a \n\n\tb\n")).toEqual({ value: ["a", "b"] });
    expect(read(field("list"), "")).toEqual({ value: [] });
    expect(read(field("string"), "  two blanks ")).toEqual({ value: "  two blanks " });
    expect(read(field("object"), "  ")).toEqual({ value: {} });
    expect(read(field("integer"), " 12 ")).toEqual({ value: 12 });
  });
});
