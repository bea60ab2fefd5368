// Which lines of an output are drawn: two first and three last until the person wants all,
// and never more than a page can bear.
import type { Piece } from "./ansi";
import { ansiLines, PLAIN } from "./ansi";

const FIRST = 2;
const LAST = 3;
const WORTH = 4; // fewer hidden lines than this are not worth a row that stands for them
const LINE_CHARS = 600; // characters of a line in the folded view
const MOST_CHARS = 200_000;
const MOST_LINES = 2000;

export type OutputText = { lines: Piece[][]; cutAt: number; cut: number };

/** The lines of an output. cut: how many are left out before line cutAt, because it is too long to be drawn. */
export function outputText(text: string): OutputText {
  const whole = text.replace(/\r\n/g, "\n").replace(/\n+$/, "");
  if (whole.length <= MOST_CHARS) {
    const lines = ansiLines(whole);
    const cut = lines.length - MOST_LINES;
    if (cut <= 0) return { lines, cutAt: 0, cut: 0 };
    return { lines: [...lines.slice(0, MOST_LINES / 2), ...lines.slice(-MOST_LINES / 2)], cutAt: MOST_LINES / 2, cut };
  }
  const head = ansiLines(whole.slice(0, MOST_CHARS / 2)).slice(0, MOST_LINES / 2);
  const tail = ansiLines(whole.slice(-MOST_CHARS / 2)).slice(-MOST_LINES / 2);
  let all = 1;
  for (let i = whole.indexOf("\n"); i >= 0; i = whole.indexOf("\n", i + 1)) all++;
  return { lines: [...head, ...tail], cutAt: head.length, cut: Math.max(1, all - head.length - tail.length) };
}

export type OutputView = { head: Piece[][]; tail: Piece[][]; hidden: number; folds: boolean };

/** What is drawn. hidden: lines between head and tail. folds: there is more than the folded view shows. */
export function outputView(t: OutputText, all: boolean): OutputView {
  const count = t.lines.length + t.cut;
  const many = count >= FIRST + LAST + WORTH;
  const folds = many || t.lines.some((l) => long(l));
  if (all || !folds) return { head: t.cut ? t.lines.slice(0, t.cutAt) : t.lines, tail: t.cut ? t.lines.slice(t.cutAt) : [], hidden: t.cut, folds };
  if (!many) return { head: t.lines.map(shortened), tail: [], hidden: 0, folds };
  return { head: t.lines.slice(0, FIRST).map(shortened), tail: t.lines.slice(-LAST).map(shortened), hidden: count - FIRST - LAST, folds };
}

const long = (line: Piece[]): boolean => line.reduce((n, p) => n + p.text.length, 0) > LINE_CHARS;

function shortened(line: Piece[]): Piece[] {
  if (!long(line)) return line;
  const out: Piece[] = [];
  let left = LINE_CHARS;
  for (const p of line) {
    if (left > 0) out.push({ ...p, text: p.text.slice(0, left) });
    left -= p.text.length;
  }
  return [...out, { text: "…", look: PLAIN }];
}

/** The output of a command without the line that says how it ended, which its row says. */
export const withoutExit = (output: string): string => output.replace(/^\s*(?:Error: )?Exit code \d+\n?/i, "");
