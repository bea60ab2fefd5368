// Whether a text can be parsed as Markdown in no time. A parser goes back over what is open with
// each mark that may close it, so a few kilobytes of open marks stand still for minutes, measured.

const MOST_CONTAINERS = 24; // quotes and lists that begin on one line
const MANY_CONTAINERS = 5; // lines with more than these are counted together
const MOST_TOGETHER = 600;
const MOST_MARKS = 800; // that may open or close emphasis, in one paragraph
const MOST_BRACKETS = 1500; // in one paragraph

const CONTAINER = /^ {0,3}(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s))/;
const LIST = /^( *)(?:[-+*]|(\d{1,9})[.)])\s/;
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const RULED = /^\|[\s:|-]*-[\s:|-]*\|$/;

/** Whether a text nests so much, or leaves so much open, that it is shown as it is. */
export function costsTooMuch(text: string): boolean {
  let together = 0;
  const paragraph = { marks: 0, brackets: 0, first: "", lines: 0, table: false, inList: -1 };
  const begin = (inList: number) => Object.assign(paragraph, { marks: 0, brackets: 0, first: "", lines: 0, table: false, inList });
  let fence = "";
  for (const line of text.split("\n")) {
    if (fence) {
      const end = line.trim();
      if (end.startsWith(fence) && end === fence.charAt(0).repeat(end.length)) fence = "";
      continue;
    }
    fence = FENCE.exec(line)?.[1] ?? "";
    if (fence) {
      begin(-1);
      continue;
    }
    const containers = containersOf(line);
    if (containers > MOST_CONTAINERS) return true;
    if (containers > MANY_CONTAINERS && (together += containers) > MOST_TOGETHER) return true;
    const said = line.replace(/^[\s>]*>/, "");
    const words = said.trim();
    const item = LIST.exec(said);
    const indent = item?.[1]?.length ?? 0;
    if (words === "" || words.startsWith("#")) begin(paragraph.inList);
    else if (item && indent < Math.max(0, paragraph.inList + 2) + 4 && (paragraph.inList >= 0 || !item[2] || item[2] === "1")) begin(indent);
    else if (paragraph.table && words.startsWith("|")) paragraph.marks = paragraph.brackets = 0;
    else if (paragraph.lines === 1 && isTable(paragraph.first, words)) paragraph.table = true;
    else paragraph.table = false;
    if (paragraph.lines++ === 0) paragraph.first = words;
    count(said, paragraph);
    if (paragraph.marks > MOST_MARKS || paragraph.brackets > MOST_BRACKETS) return true;
  }
  return false;
}

/** Quotes and lists that begin on a line. */
function containersOf(line: string): number {
  let n = 0;
  for (let rest = line, m = CONTAINER.exec(rest); m && n <= MOST_CONTAINERS; m = CONTAINER.exec(rest)) {
    rest = rest.slice(m[0].length).replace(/^[ \t]/, "");
    n++;
  }
  return n;
}

/** A table's head and the line below it: each cell of its rows is read by itself. */
function isTable(head: string, below: string): boolean {
  const bars = (s: string) => s.replace(/\\./g, "").split("|").length;
  return RULED.test(below) && head.startsWith("|") && head.endsWith("|") && !head.endsWith("\\|") && bars(head) === bars(below);
}

const isWord = (c: string | undefined): boolean => c !== undefined && /[\p{L}\p{N}]/u.test(c);

function count(line: string, into: { marks: number; brackets: number }) {
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (c === "\\") i++;
    else if (c === "[") into.brackets++;
    else if (c === "*" || c === "_" || c === "~") {
      const from = i;
      while (line[i + 1] === c) i++;
      if (c === "*" || !isWord(line[from - 1]) || !isWord(line[i + 1])) into.marks++; // a mark in a word is none
    }
  }
}

type Node = { children?: Node[] };

/** How deep a tree is, without a call for each level. */
export function depthOf(root: Node): number {
  let depth = 0;
  for (let level: Node[] = [root]; level.length > 0; level = level.flatMap((n) => n.children ?? [])) depth++;
  return depth;
}
