// Finds names of files with a line in output, as compilers, linters and tests print them:
// path:line, path:line:column, and Python's File "path", line n.

/** from and to are places in the text, in UTF-16 units. to is the place behind the link. */
export type FileLink = { path: string; line: number; column: number; from: number; to: number };
export type FileRef = Pick<FileLink, "path" | "line" | "column">;

/** The link below the pointer: its place on the page, its target, and whether a click may follow it. */
export type LinkHint = { x: number; y: number; target: string; allowed: boolean; file?: boolean } | null;

const MAX_TEXT = 4000;
const NUMBERED = /(?<=^|[\s"'`([{<=,|])((?:[A-Za-z]:[\\/]|(?:\.{1,2})?[\\/])?[\p{L}\p{N}_.@+~#-]+(?:[\\/][\p{L}\p{N}_.@+~#-]+)*):(\d{1,7})(?::(\d{1,5}))?(?![\p{L}\p{N}_])/gu;
const PYTHON = /\bFile "([^"\p{C}]{1,500})", line (\d{1,7})/gu;
/** A name without a folder needs an ending. The endings left out are those of hosts, which also stand before a number. */
const NAMED = /\.(?!(?:com|org|net|io|dev|local|localdomain|internal|lan)$)[A-Za-z][A-Za-z0-9_]{0,9}$/;
const KNOWN = /^(?:Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Containerfile)$/;

export function findFiles(text: string): FileLink[] {
  const t = text.slice(0, MAX_TEXT);
  const out: FileLink[] = [];
  for (const m of t.matchAll(NUMBERED)) {
    const [all, path = "", line = "", column = ""] = m;
    if (/[\\/]/.test(path) ? !/[\p{L}\p{N}]/u.test(path) : !NAMED.test(path) && !KNOWN.test(path)) continue;
    out.push({ path, line: Number(line), column: Number(column), from: m.index, to: m.index + all.length });
  }
  for (const m of t.matchAll(PYTHON)) {
    if (out.some((l) => l.from < m.index + m[0].length && m.index < l.to)) continue;
    out.push({ path: m[1] ?? "", line: Number(m[2]), column: 0, from: m.index, to: m.index + m[0].length });
  }
  return out.filter((l) => l.line > 0 && !l.path.startsWith("<")).toSorted((a, b) => a.from - b.from);
}
