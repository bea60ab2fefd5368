import { describe, expect, it } from "vitest";
import { beginning, latest } from "./blocks";

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
