// What the agent read of a file. The CLI writes the number before each line, as “   52→…” or
// “52\t…”, and sometimes a word of its own below, which has no number.
export type ReadLines = { first: number; lines: string[]; rest: string };

const MOST_LINES = 2000;
const MOST_CHARS = 200_000;
const NUMBERED = /^ *(\d{1,9})(?:→|\t)(.*)$/;

/** The lines that were read; null where the output is something else. rest: what follows them, or is left out. */
export function readLines(output: string): ReadLines | null {
  const text = output.slice(0, MOST_CHARS).replace(/\r(?=\n)/g, "");
  const lines: string[] = [];
  let first = 0;
  let at = 0;
  while (at < text.length && lines.length < MOST_LINES) {
    const end = text.indexOf("\n", at);
    const m = NUMBERED.exec(end < 0 ? text.slice(at) : text.slice(at, end));
    if (!m) break;
    const no = Number(m[1]);
    if (lines.length === 0) first = no;
    else if (no !== first + lines.length) break;
    lines.push(m[2] ?? "");
    at = end < 0 ? text.length : end + 1;
  }
  if (lines.length === 0) return null;
  const more = output.length > MOST_CHARS || lines.length === MOST_LINES;
  return { first, lines, rest: more ? "The lines that follow are left out here." : text.slice(at).trim() };
}
