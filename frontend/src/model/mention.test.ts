import { describe, expect, it } from "vitest";
import { linesOf, matchParts, mentionAt, mentionOf, mentionsIn, stretches, withMention } from "./mention";

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

  it.each([
    ["a/b.go", "a/b.go", ""], ["b.go:40-60", "b.go", "#L40-60"], ["b.go:7", "b.go", "#L7"], ["b.go:7-", "b.go", "#L7"], ["b.go#L7-9", "b.go", "#L7-9"], [":7", ":7", ""], ["b:x", "b:x", ""],
  ])("may want some lines alone: %j", (typed, query, lines) => expect(linesOf(typed)).toEqual({ query, lines }));

  it("with lines are written as Claude Code reads them", () => {
    expect(withMention("see @ma:4-6 now", { from: 4, query: "ma:4-6" }, 11, "main.go", false, "#L4-6").text).toBe("see @main.go#L4-6 now");
    expect(mentionOf("my docs/b.md", false, "#L4")).toBe('@"my docs/b.md#L4"');
  });

  it.each([
    ["plain", []], ["see @a/b.go, and mail@host or @", ["@a/b.go"]], ['@"my docs/b.md" (@c.go#L4-6)', ['@"my docs/b.md"']], ["@a\n@b.", ["@a", "@b"]], ["@...", []], ['see @"half', ['@"half']],
  ])("are tinted without changing the text: %j", (text, marked) => {
    const parts = stretches(text);
    expect(parts.map((p) => p.text).join("")).toBe(text);
    expect(parts.filter((p) => p.mention).map((p) => p.text)).toEqual(marked);
    expect(parts.every((p) => text.startsWith(p.text, p.from))).toBe(true);
  });

  it("name files", () => expect(mentionsIn('look at @a/b.go#L4-6, @"my docs/c.md" and @d.')).toEqual(["a/b.go", "my docs/c.md", "d"]));

  it("show which letters matched", () => {
    expect(matchParts("a/lim.go", [2, 3])).toEqual({ name: [{ text: "li", marked: true }, { text: "m.go", marked: false }], dir: [{ text: "a", marked: false }] });
    expect(matchParts("a/b/", [])).toEqual({ name: [{ text: "b/", marked: false }], dir: [{ text: "a", marked: false }] });
    expect(matchParts("😀x", [1]).name).toEqual([{ text: "😀", marked: false }, { text: "x", marked: true }]);
    expect(matchParts("b/", [])).toEqual({ name: [{ text: "b/", marked: false }], dir: [] });
  });
});
