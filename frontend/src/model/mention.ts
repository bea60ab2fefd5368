/** Files that a prompt names: where one is being typed, and how it is written. */

export interface Typed {
  from: number; // of the @
  query: string;
}

/** The mention whose end the caret is at: an @ at the start of a word. */
export function mentionAt(text: string, caret: number): Typed | null {
  const m = /(?:^|\s)@(?:"([^"\n]*)|([^\s"]*))$/u.exec(text.slice(0, caret));
  if (!m) return null;
  const query = m[1] ?? m[2] ?? "";
  return { from: caret - query.length - (m[1] === undefined ? 1 : 2), query };
}

/** What is typed, without the lines that are wanted of the file: “:40-60”, or “#L40-60” as Claude Code reads it. */
export function linesOf(query: string): { query: string; lines: string } {
  const m = /^(.+?)(?::|#L)(\d{1,7})(?:-(\d{0,7}))?$/u.exec(query);
  return m ? { query: m[1] ?? "", lines: `#L${m[2]}${m[3] ? `-${m[3]}` : ""}` } : { query, lines: "" };
}

/** A path as Claude Code reads it: one with blanks is quoted. */
export function mentionOf(path: string, open = false, lines = ""): string {
  if (!/\s/u.test(path) || path.includes('"')) return `@${path}${lines}`;
  return `@"${path}${lines}${open ? "" : '"'}`;
}

/** A stretch of a prompt. A mention's is tinted. */
export type Stretch = { text: string; mention: boolean; from: number };

/** The prompt in stretches, which together are the prompt, letter by letter. */
export function stretches(text: string): Stretch[] {
  const out: Stretch[] = [];
  let at = 0;
  for (const m of text.matchAll(/(?<=^|\s)@(?:"[^"\n]+"?|[^\s"]+)/gu)) {
    const word = m[0].startsWith('@"') ? m[0] : m[0].replace(/[.,;:!?)\]}]+$/u, "");
    if (word.length < 2) continue;
    if (m.index > at) out.push({ text: text.slice(at, m.index), mention: false, from: at });
    at = m.index + word.length;
    out.push({ text: word, mention: true, from: m.index });
  }
  if (at < text.length) out.push({ text: text.slice(at), mention: false, from: at });
  return out;
}

/** The paths that a prompt names. */
export function mentionsIn(text: string): string[] {
  return stretches(text).filter((s) => s.mention).map((s) => s.text.replace(/^@"?|"$/gu, "").replace(/#L\d+(-\d+)?$/u, ""));
}

/** The text with a path in the place of what was typed, and where the caret goes. */
export function withMention(text: string, typed: Typed, caret: number, path: string, open: boolean, lines = ""): { text: string; caret: number } {
  let rest = text.slice(caret);
  if (text[typed.from + 1] === '"' && rest.startsWith('"')) rest = rest.slice(1);
  const words = mentionOf(path, open, lines) + (open || /^\s/u.test(rest) ? "" : " ");
  return { text: text.slice(0, typed.from) + words + rest, caret: typed.from + words.length };
}

export interface Part {
  text: string;
  marked: boolean;
}

/** A path's last name and its folder, each in parts that matched or did not. Marks count code points. */
export function matchParts(path: string, marks: readonly number[]): { name: Part[]; dir: Part[] } {
  const letters = Array.from(path);
  const cut = letters.lastIndexOf("/", letters.at(-1) === "/" ? -2 : -1) + 1;
  const on = new Set(marks);
  const parts = (from: number, to: number) => {
    const out: Part[] = [];
    for (let i = from; i < to; i++) {
      const last = out.at(-1);
      if (last && last.marked === on.has(i)) last.text += letters[i] ?? "";
      else out.push({ text: letters[i] ?? "", marked: on.has(i) });
    }
    return out;
  };
  return { name: parts(cut, letters.length), dir: parts(0, Math.max(0, cut - 1)) };
}
