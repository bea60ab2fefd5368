import { describe, expect, it } from "vitest";
import { beginning, LABEL, latest, splitBlocks } from "./blocks";

describe("parts of a text", () => {
  it("is the text where it is short", () => {
    expect(beginning("a\n\nb", 10)).toBe("a\n\nb");
    expect(latest("a\n\nb", 10)).toBe("a\n\nb");
  });
  it("ends at a blank line, else at a line, else anywhere", () => {
    expect(beginning("aaaaaa\n\nbbbb", 10)).toBe("aaaaaa");
    expect(beginning("a\n\nbbbbbbbbbbbbb", 10)).toBe("a\n\nbbbbbbb");
    expect(beginning("aaaaaa\nbbbb", 10)).toBe("aaaaaa");
  });
  it("begins with a line that is near", () => {
    expect(latest("aaaa\nbb\ncc", 6)).toBe("bb\ncc");
    expect(latest("aaaaaaaaaaaa", 6)).toBe("aaaaaa");
  });
  it("parts no pair of a character", () => {
    expect(beginning("abc😀def", 4)).toBe("abc");
    expect(latest("abc😀def", 4)).toBe("def");
  });
});

describe("pieces of a text", () => {
  const long = `${"some words ".repeat(40)}\n\nmore`;
  it("are parted at blank lines, and not where a link is defined", () => {
    expect(splitBlocks(long).length).toBe(2);
    for (const definition of ["[a]: http://b.c", "   [a b\nc]: http://b.c", "[a \\] b]: http://b.c", "[^1]: a note"]) {
      expect([definition, splitBlocks(`${long}\n\n${definition}`).length]).toEqual([definition, 1]);
    }
    expect(splitBlocks(`${long}\n\n[a] is no definition: none`).length).toBe(3);
  });
  it("are found without looking at a character for two labels", () => {
    for (const part of ["[\n", "[", "[a\n", " [\\\n", "[\\[\n", "[\\\\\n", "[a]\n"]) {
      const text = part.repeat(2000);
      let looked = 0;
      for (const m of text.matchAll(/^ {0,3}(?=\[)/gm)) looked += LABEL.exec(text.slice(m.index + m[0].length, m.index + 3000))?.[0].length ?? 0;
      expect([part, looked <= text.length]).toEqual([part, true]);
    }
  });
});
