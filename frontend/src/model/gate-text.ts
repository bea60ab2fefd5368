// Paths and commands of a container in one line: what an approval shows must be exactly what happens.
import type { Segment } from "./text";
import { segments } from "./text";

const NAMES: Record<string, string> = { "\n": "LF", "\r": "CR", "\t": "TAB", "\u001b": "ESC", " ": "SP", "\u00a0": "NBSP" };
// Characters that text of several lines may have and a path may not: also colour codes, which
// change no word but would hide here, and blanks at an end, which nobody sees.
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const ODD = /[\n\r\t\u001b\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|^ +| +$/g;

/** Splits one line so that a viewer can name every character that hides, reorders or breaks it. */
export function lineSegments(text: string): Segment[] {
  const out: Segment[] = [];
  const plain = (s: string) => s && out.push(...segments(s));
  let last = 0;
  for (const m of text.matchAll(ODD)) {
    plain(text.slice(last, m.index));
    const code = m[0].codePointAt(0) ?? 0;
    const name = NAMES[m[0].charAt(0)] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    out.push({ text: m[0].length > 1 ? `${name}×${m[0].length}` : name, hidden: true });
    last = m.index + m[0].length;
  }
  plain(text.slice(last));
  return out;
}

/** lineSegments as a plain string, for names and titles. */
export const visibleLine = (text: string): string => lineSegments(text).map((s) => (s.hidden ? `⟨${s.text}⟩` : s.text)).join("");

export function basename(path: string): string {
  const p = path.replace(/\/+$/, "");
  return p.slice(p.lastIndexOf("/") + 1);
}

/** The folder of a path, which is shown dimmed, and its name. */
export function pathParts(path: string): { folder: string; name: string } {
  const i = path.replace(/\/+$/, "").lastIndexOf("/");
  return { folder: path.slice(0, i + 1), name: path.slice(i + 1) };
}

/** Leaves out the middle of a long text: the end says most, and is never hidden. max counts characters. */
export function elideMiddle(text: string, max: number): string {
  const all = Array.from(text);
  if (all.length <= max) return text;
  const head = Math.floor((max - 1) / 3);
  return `${all.slice(0, head).join("")}…${all.slice(all.length - (max - 1 - head)).join("")}`;
}
