import { expect, it } from "vitest";
import { bytesOf, textOf } from "./decode";

it("takes a cut character for the end of a part, and for damage in a whole file", () => {
  const cut = new TextEncoder().encode("aä").slice(0, 2);
  expect(textOf(cut, false)).toBe("a");
  expect(textOf(cut, true)).toBeNull();
  expect([...bytesOf("AP8=")]).toEqual([0, 255]);
});
