import { expect, it } from "vitest";
import type { FileContent } from "../api/types";
import { pictureSize, pictureType, previewOf } from "./file-preview";

function preview(bytes: number[], more: Partial<FileContent> = {}, said?: string | null) {
  const c: FileContent = { path: "/p/a", name: "a", kind: "file", bytes: bytes.length, modified_ms: 0, data: "", whole: true, ...more };
  return previewOf(c, new Uint8Array(bytes), said === undefined ? String.fromCharCode(...bytes) : said);
}
const text = (s: string) => [...new TextEncoder().encode(s)];
const u16 = (n: number) => [n >> 8, n & 255];
const le = (n: number, size: number) => Array.from({ length: size }, (_, i) => (n >> (8 * i)) & 255);
const png = (w: number, h: number) => [0x89, ...text("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...text("IHDR"), 0, 0, ...u16(w), 0, 0, ...u16(h)];
const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 9, 0xff, 0xff, 0xc0, 0, 11, 8, ...u16(30), ...u16(40)];
const webp = (chunk: string, body: number[]) => [...text("RIFF"), 0, 0, 0, 0, ...text(`WEBP${chunk}`), 0, 0, 0, 0, ...body];

it("shows text by lines, and bounds them", () => {
  expect(preview(text("one\r\ntwo\n"))).toEqual({ kind: "text", lines: ["one", "two"], whole: true });
  expect(preview([])).toEqual({ kind: "text", lines: [""], whole: true });
  const long = preview(text("x".repeat(3000)));
  expect(long.kind === "text" && long.lines[0]?.length).toBe(2001);
  const many = preview(text("\n".repeat(6000)));
  expect(many.kind === "text" && [many.lines.length, many.whole]).toEqual([5000, false]);
});

it("says what is no text", () => {
  expect(preview([97, 0xc3], {}, null)).toEqual({ kind: "none", why: "The file is no text in UTF-8." });
  expect(preview([1, 0, 2])).toEqual({ kind: "none", why: "The file is no text." });
  expect(preview([97, 0xc3], { whole: false }, "a")).toEqual({ kind: "text", lines: ["a"], whole: false });
});

it("reads the size of a picture before it is unpacked", () => {
  for (const [bytes, want] of [
    [png(20, 10), [20, 10]], [jpeg, [40, 30]], [[...text("GIF89a"), ...le(7, 2), ...le(5, 2)], [7, 5]],
    [webp("VP8X", [0, 0, 0, 0, ...le(99, 3), ...le(49, 3)]), [100, 50]],
    [webp("VP8L", [0x2f, ...le(99 | (49 << 14), 4)]), [100, 50]],
    [webp("VP8 ", [0, 0, 0, 0, 0, 0, ...le(100, 2), ...le(50, 2)]), [100, 50]],
  ] as const) {
    const p = preview([...bytes]);
    expect(p.kind === "picture" && [p.width, p.height]).toEqual(want);
  }
  expect(preview(png(60_000, 60_000))).toMatchObject({ kind: "none", why: "The picture has 60000 × 60000 points, too many to show." });
  expect(preview(png(1, 0))).toMatchObject({ kind: "none", why: "The picture is damaged." });
  expect(preview(jpeg.slice(0, 12))).toMatchObject({ kind: "none", why: "The picture is damaged." });
  expect(preview(jpeg, { whole: false, bytes: 1000 }).kind).toBe("part");
  expect(preview(jpeg, { whole: false, bytes: 9 << 20 }).kind).toBe("none");
  expect(pictureType(new Uint8Array())).toBe("");
  expect(pictureSize(new Uint8Array(3), "image/png")).toBeNull();
});
