import { describe, expect, it } from "vitest";
import { matchParts, mentionAt, mentionOf, withMention } from "./mention";

describe("mentions", () => {
  it.each([
    ["@", 1, { from: 0, query: "" }],
    ["look at @src/ma", 15, { from: 8, query: "src/ma" }],
    ["a\n@b c", 4, { from: 2, query: "b" }],
    ['see @"my fi', 11, { from: 4, query: "my fi" }],
    ["mail@host", 9, null],
    ["@a b", 4, null],
    ['@"a" ', 5, null],
    ["@@", 2, { from: 0, query: "@" }],
  ])("are found where they are typed: %j", (text, caret, want) => expect(mentionAt(text, caret)).toEqual(want));

  it("are written so that Claude Code reads them", () => {
    expect(mentionOf("a/b.go")).toBe("@a/b.go");
    expect(mentionOf("my docs/b.md")).toBe('@"my docs/b.md"');
    expect(mentionOf("my docs/", true)).toBe('@"my docs/');
  });

  it("take the place of what was typed", () => {
    expect(withMention("see @ma now", { from: 4, query: "ma" }, 7, "main.go", false)).toEqual({ text: "see @main.go now", caret: 12 });
    expect(withMention("@do", { from: 0, query: "do" }, 3, "docs/", true)).toEqual({ text: "@docs/", caret: 6 });
    expect(withMention('@"my d"', { from: 0, query: "my d" }, 6, "my docs/a b", false)).toEqual({ text: '@"my docs/a b" ', caret: 15 });
  });

  it("show which letters matched", () => {
    expect(matchParts("a/lim.go", [2, 3])).toEqual({ name: [{ text: "li", marked: true }, { text: "m.go", marked: false }], dir: [{ text: "a", marked: false }] });
    expect(matchParts("a/b/", [])).toEqual({ name: [{ text: "b/", marked: false }], dir: [{ text: "a", marked: false }] });
    expect(matchParts("😀x", [1]).name).toEqual([{ text: "😀", marked: false }, { text: "x", marked: true }]);
    expect(matchParts("b/", [])).toEqual({ name: [{ text: "b/", marked: false }], dir: [] });
  });
});
