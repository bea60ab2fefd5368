// What is shown of a file before it is opened: its lines, its picture, or what it is.
import type { FileContent } from "../api/types";

/** Bytes of a file that are read for a look at it, and of a picture, which is shown whole. */
export const LOOK_BYTES = 512 * 1024;
export const PICTURE_BYTES = 8 * 1024 * 1024;

const MOST_LINES = 5000;
const LINE_CHARS = 2000;
const MOST_PIXELS = 40_000_000; // 160 MB once it is unpacked

export type Preview =
  | { kind: "text"; lines: string[]; whole: boolean }
  | { kind: "picture"; type: string; bytes: Uint8Array<ArrayBuffer>; width: number; height: number }
  | { kind: "part"; type: string } // a picture of which more has to be read
  | { kind: "none"; why: string };

/** What to show of a file with these first bytes, and the text that they are in UTF-8; null where they are none. */
export function previewOf(c: FileContent, bytes: Uint8Array<ArrayBuffer>, text: string | null): Preview {
  const type = pictureType(bytes);
  if (type) {
    if (!c.whole) return c.bytes > PICTURE_BYTES ? { kind: "none", why: "The picture is larger than 8 MB." } : { kind: "part", type };
    const size = pictureSize(bytes, type);
    if (!size) return { kind: "none", why: "The picture is damaged." };
    if (size.width * size.height > MOST_PIXELS) return { kind: "none", why: `The picture has ${size.width} × ${size.height} points, too many to show.` };
    return { kind: "picture", type, bytes, ...size };
  }
  if (bytes.includes(0)) return { kind: "none", why: "The file is no text." };
  if (text === null) return { kind: "none", why: "The file is no text in UTF-8." };
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const shown = lines.slice(0, MOST_LINES).map((l) => l.replace(/\r$/, "")).map((l) => (l.length > LINE_CHARS ? `${l.slice(0, LINE_CHARS)}…` : l));
  return { kind: "text", lines: shown, whole: c.whole && lines.length <= MOST_LINES };
}

const ascii = (b: Uint8Array, from: number, to: number): string => String.fromCharCode(...b.slice(from, to));

/** The type of a picture by its first bytes; empty for all else. */
export function pictureType(b: Uint8Array): string {
  if (ascii(b, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (ascii(b, 0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (/^GIF8[79]a$/.test(ascii(b, 0, 6))) return "image/gif";
  if (ascii(b, 0, 4) === "RIFF" && ascii(b, 8, 12) === "WEBP") return "image/webp";
  return "";
}

type Size = { width: number; height: number };

/** Width and height by the picture's own word, before anything is unpacked. null: it says none. */
export function pictureSize(b: Uint8Array<ArrayBuffer>, type: string): Size | null {
  const v = new DataView(b.buffer);
  const size = (width: number, height: number): Size | null => (width > 0 && height > 0 ? { width, height } : null);
  try {
    if (type === "image/png") return size(v.getUint32(16), v.getUint32(20));
    if (type === "image/gif") return size(v.getUint16(6, true), v.getUint16(8, true));
    if (type === "image/webp") return webpSize(v, ascii(b, 12, 16));
    for (let at = 2; ;) {
      const mark = v.getUint16(at);
      // A frame's header is C0 to CF, but for the three marks in between that are no frames.
      if (mark >= 0xffc0 && mark <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(mark)) return size(v.getUint16(at + 7), v.getUint16(at + 5));
      if (mark < 0xff00) return null;
      at += mark === 0xffff ? 1 : 2 + v.getUint16(at + 2);
    }
  } catch {
    return null; // it ends before it says so
  }
}

function webpSize(v: DataView, chunk: string): Size | null {
  if (chunk === "VP8X") return { width: 1 + (v.getUint32(24, true) & 0xffffff), height: 1 + (v.getUint32(26, true) >>> 8) };
  if (chunk === "VP8L") {
    const bits = v.getUint32(21, true);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  return chunk === "VP8 " ? { width: v.getUint16(26, true) & 0x3fff, height: v.getUint16(28, true) & 0x3fff } : null;
}
