import { describe, expect, it } from "vitest";
import { countOf, isPicture, MOST_PICTURES, parsePictures, tooLarge } from "./pictures";

describe("pictures of prompts", () => {
  it("are known by their type, or by their name", () => {
    expect(["a.png", "B.JPG", "c.jpeg", "d.gif", "e.webp"].every((n) => isPicture(n))).toBe(true);
    expect(["a.svg", "png", "a.png.txt", "a.bmp", ""].some((n) => isPicture(n))).toBe(false);
    expect(isPicture("notes", "image/webp")).toBe(true);
    expect(isPicture("a.png", "image/svg+xml")).toBe(false);
  });
  it("are read from what was kept, whatever that is", () => {
    const one = { id: "x", name: "a", type: "image/png", bytes: 1, width: 1, height: 1 };
    expect(parsePictures(JSON.stringify([one, { id: 1 }, null, "x"]))).toEqual([one]);
    expect(parsePictures("")).toEqual([]);
    expect(parsePictures("{")).toEqual([]);
    expect(parsePictures("{}")).toEqual([]);
    expect(parsePictures(JSON.stringify(Array.from({ length: 99 }, () => one)))).toHaveLength(MOST_PICTURES);
  });
  it("are drawn small unless they unpack to hundreds of megabytes", () => {
    const of = (width: number, height: number) => tooLarge({ id: "x", name: "a", type: "image/png", bytes: 1, width, height });
    expect([of(3840, 2160), of(6000, 4000), of(8000, 8000)]).toEqual([false, false, true]);
  });
  it("are counted in words", () => {
    expect([countOf([1]), countOf([1, 2])]).toEqual(["1 picture", "2 pictures"]);
  });
});
