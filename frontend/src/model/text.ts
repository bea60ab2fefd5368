// Makes text from a container safe to show. Such text is hostile: it may hide, reorder or fake words.

export type Segment = { text: string; hidden: boolean };

// Colour codes are dropped silently because they change no meaning. Every other control character is shown.
// eslint-disable-next-line no-control-regex -- the pattern must match the escape byte
const SGR = /\u001b\[[0-9;:]*m/g;
// C0 (but tab and newline), DEL, C1, soft hyphen, bidi marks and overrides, zero
// width, line and paragraph separators, fillers, tag characters, the byte order mark.
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const NAMES: Record<number, string> = { 0: "NUL", 7: "BEL", 8: "BS", 13: "CR", 27: "ESC", 127: "DEL", 0x200b: "ZWSP", 0x202e: "RLO", 0x202d: "LRO", 0x2066: "LRI", 0x2067: "RLI", 0xfeff: "BOM" };

function nameOf(ch: string): string {
  const code = ch.codePointAt(0) ?? 0;
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Splits text so that a viewer can set characters that hide or reorder apart. */
export function segments(text: string): Segment[] {
  const clean = stripColour(text).replace(/\r\n/g, "\n");
  const out: Segment[] = [];
  let last = 0;
  for (const m of clean.matchAll(HIDDEN)) {
    if (m.index > last) out.push({ text: clean.slice(last, m.index), hidden: false });
    out.push({ text: nameOf(m[0]), hidden: true });
    last = m.index + m[0].length;
  }
  if (last < clean.length) out.push({ text: clean.slice(last), hidden: false });
  return out;
}

/** Shows hidden characters in a plain string, for names, titles and copies in one line. */
export function visible(text: string): string {
  return segments(text).map((s) => (s.hidden ? `⟨${s.text}⟩` : s.text)).join("");
}

// Joiners that belong to the text: inside an emoji of several, or behind one whose rest
// still streams in, and between letters of scripts that are written with them.
const JOINED = "Arabic Syriac Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar"
  .split(" ").map((script) => `\\p{Script=${script}}`).join("");
const JOINER = new RegExp(
  `((?<=\\p{Extended_Pictographic}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?)\\u200d(?=\\p{Extended_Pictographic}|$)|(?<=[${JOINED}])[\\u200c\\u200d](?=[${JOINED}]|$))`, "u",
);

/** Shows hidden characters in prose. Emoji stay whole, and so do words. */
export function prose(text: string): string {
  return text.search(HIDDEN) < 0 ? text : text.split(JOINER).map((part, i) => (i % 2 === 0 ? visible(part) : part)).join("");
}

export function stripColour(text: string): string {
  return text.includes("\u001b") ? text.replace(SGR, "") : text;
}

/** The first line, for a row that has room for one. */
export function oneLine(text: string): string {
  const t = text.trim();
  const i = t.indexOf("\n");
  return i < 0 ? t : `${t.slice(0, i).trimEnd()} …`;
}

export function utf8Length(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) n += 1;
    else if (c < 0x800) n += 2;
    else if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.length) {
      n += 4;
      i++;
    } else n += 3;
  }
  return n;
}

/** The text without its first n UTF-8 bytes. n falls between two characters. */
export function skipUtf8(text: string, n: number): string {
  let seen = 0;
  let i = 0;
  while (i < text.length && seen < n) {
    const size = (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1;
    seen += utf8Length(text.slice(i, i + size));
    i += size;
  }
  return text.slice(i);
}

/** Shortens a path at its start, because its end says most: “…/long/path/file.go”. */
export function elidePath(path: string, max: number): string {
  if (path.length <= max) return path;
  const tail = path.slice(-(max - 2));
  const cut = tail.indexOf("/");
  return `…${cut > 0 && cut < 24 ? tail.slice(cut) : tail}`;
}

export function relativeTo(path: string, dir: string): string {
  if (!dir || dir === "/") return path;
  if (path === dir) return ".";
  return path.startsWith(dir.endsWith("/") ? dir : `${dir}/`) ? path.slice(dir.length).replace(/^\//, "") : path;
}
