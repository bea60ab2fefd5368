// Makes pasted text safe before a program sees it.
import { utf8Length } from "../text";

/** The most bytes of one paste. A session holds 1 MiB that its program has not read yet. */
export const MAX_PASTE = 960 * 1024;

export type Paste = {
  text: string; // the cleaned text, with its newlines; the terminal makes CR of them
  lines: number;
  removed: number; // how many characters were taken out
  ask: boolean; // the text has several lines, and the program would run each as it comes
  tooLong: boolean;
};

// The markers of bracketed paste, with ESC [ and with the one-character CSI.
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const MARKER = /(?:\u001b\[|\u009b)20[01]~/g;
// All of C0 but tab and newlines, DEL, and C1. Without ESC and CSI nothing can pretend to be the end of the paste.
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

export function preparePaste(raw: string, bracketed: boolean): Paste {
  if (raw.length > MAX_PASTE || utf8Length(raw) > MAX_PASTE) return { text: "", lines: 0, removed: 0, ask: false, tooLong: true };
  let text = raw;
  // The text around a removed marker may form another marker.
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(MARKER, "");
  }
  text = text.replace(CONTROL, "").replace(/\r\n?/g, "\n");
  const lines = text.split("\n").length;
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  return { text, lines: body.split("\n").length, removed: raw.replace(/\r\n?/g, "\n").length - text.length, ask: !bracketed && lines > 1 && body.includes("\n"), tooLong: false };
}

/** Makes one line of several. Lines continued by a backslash are joined, others get a blank between them. */
export function asOneLine(text: string): string {
  return text
    .split("\n")
    .map((l) => l.trim().replace(/(?<!\\)\\$/, "").trim())
    .filter((l) => l !== "")
    .join(" ");
}

/** The first lines of a text, for the question whether to paste it. */
export function preview(text: string, lines = 8, width = 160): string {
  const all = text.split("\n");
  const shown = all.slice(0, lines).map((l) => (l.length > width ? `${l.slice(0, width)}…` : l));
  return all.length > lines ? [...shown, `… ${all.length - lines} more`].join("\n") : shown.join("\n");
}
