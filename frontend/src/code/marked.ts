// Joins the colours of a line with the places that are marked in it.
import type { Token } from "./highlight";

export type Range = [from: number, to: number];
export type Part = Token & { marked: boolean };

/** The parts of a line. Colours of another text than the line's are left out. */
export function markedParts(text: string, tokens: Token[] | undefined, ranges: readonly Range[]): Part[] {
  const fits = tokens !== undefined && tokens.map((t) => t.text).join("") === text;
  const out: Part[] = [];
  let at = 0;
  for (const t of fits ? tokens : [{ text, color: "" }]) {
    const end = at + t.text.length;
    while (at < end) {
      const here = ranges.find(([from, to]) => at >= from && at < to);
      const next = here ? here[1] : Math.min(end, ...ranges.filter(([from]) => from > at).map(([from]) => from));
      const to = Math.min(end, next);
      out.push({ text: text.slice(at, to), color: t.color, marked: here !== undefined });
      at = to;
    }
  }
  return out;
}
