// Whether a text can be parsed as Markdown in no time. A parser goes back over what is open with
// each mark that may close it, so a few kilobytes of open marks stand still for minutes, measured.

const MOST_CONTAINERS = 24; // quotes and lists that begin on one line
const MANY_CONTAINERS = 5; // lines with more than these are counted together
const MOST_TOGETHER = 600;
const MOST_MARKS = 800; // that may open or close emphasis, in one paragraph
const MOST_BRACKETS = 1500; // in one paragraph

// Markdown takes only spaces and tabs for blank, so no \s is here.
const CONTAINER = /^ {0,3}(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/;
const QUOTED = /^(?: {0,3}> ?)+/;
const ITEM = /^( *)([-+*]|(\d{1,9})[.)])([ \t]+)(?=[^ \t])/;
const HOLDS_OTHER = /^(?:[>+*_-]|\d{1,9}[.)])/; // after an item's marker: another marker, or the line is a rule
const MAY_BE_ITEM = /^[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const FENCE = /^( {0,3})(`{3,}(?![^]*`)|~{3,})/;
const MAY_BE_FENCE = /^[ \t>*+.)\d-]*(?:`{3}|~{3})/;
const ENDS_FENCE = /^( *)(`{3,}|~{3,})[ \t]*$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const HTML = /^[ \t>*+.)\d-]*</;
const HTML_WITH_BLANKS = /^[ \t>*+.)\d-]*<(?:[!?]|(?:pre|script|style|textarea)(?:[ \t>]|$))/i;
const ROW = /^ {0,3}\|/;
const RULED = /^ {0,3}\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;

/** Whether a text nests so much, or leaves so much open, that it is shown as it is. */
export function costsTooMuch(text: string): boolean {
  const { nested, marks, brackets } = heaviest(text);
  return nested || marks > MOST_MARKS || brackets > MOST_BRACKETS;
}

/** From and to which column what belongs to a list item may begin. */
type Item = { from: number; to: number };

/**
 * Whether a text nests too much, and the marks and brackets of its paragraph with the most. Where it is not sure
 * that a paragraph ends, it goes on: no part of the text may look cheaper than it is to the parser.
 */
export function heaviest(text: string): { nested: boolean; marks: number; brackets: number } {
  const most = { nested: false, marks: 0, brackets: 0 };
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  let together = 0;
  const now = { marks: 0, brackets: 0, lines: 0, head: "", lead: "", table: false };
  const begin = () => Object.assign(now, { marks: 0, brackets: 0, lines: 0, head: "", table: false });
  let items: Item[] = []; // those that are surely open
  let depth = 0; // of the quotes around them
  let listed = false; // a list may be open
  let inHtml = false; // up to a blank line
  let sure = true; // false: fences, lists and tables may be text in something else, to the end
  let plain = true; // false: a list may hold a fence, so only a fence that is in no list is one
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const containers = containersOf(line);
    if (containers > MOST_CONTAINERS || (containers > MANY_CONTAINERS && (together += containers) > MOST_TOGETHER)) return { ...most, nested: true };
    if (inHtml && FENCE.test(line)) sure = false;
    const fence = sure ? FENCE.exec(line) : null;
    if (fence) {
      const outside = (fence[1]?.length ?? 0) < 2 || !listed;
      const end = outside ? endOfFence(lines, i, fence[2] ?? "") : plain ? endInItem(lines, i, fence[1] ?? "", fence[2] ?? "") : -1;
      begin();
      if (end >= 0) {
        items = [];
        i = end;
        continue;
      }
      sure = false;
    } else if (MAY_BE_FENCE.test(line)) plain = false;
    if (HTML_WITH_BLANKS.test(line)) sure = false;
    if (HTML.test(line)) inHtml = true;
    if (MAY_BE_ITEM.test(line)) listed = true;
    const said = line.replace(QUOTED, "");
    const quotes = line.slice(0, line.length - said.length).replaceAll(" ", "").length;
    if (/^[ \t]*$/.test(said)) {
      begin();
      inHtml = false;
      continue;
    }
    const certain = sure && plain && !inHtml;
    if (!certain || quotes !== depth) items = [];
    depth = quotes;
    const item = ITEM.exec(said);
    const indent = item?.[1]?.length ?? /^ */.exec(said)?.[0].length ?? 0;
    let left = false; // an item was left, so that no paragraph is interrupted
    for (let at = items.at(-1); at && indent < at.to; at = items.at(-1)) {
      left ||= indent < at.from;
      items.pop();
    }
    const lead = /^[ >]*/.exec(line)?.[0] ?? "";
    if (HEADING.test(said)) {
      begin();
      items = [];
      count(said, now);
    } else {
      if (item && indent < (items.at(-1)?.from ?? 0) + 4) {
        if (!item[3] || Number(item[3]) === 1 || (certain && (left || now.lines === 0))) begin();
        if (now.lines === 0 && certain && !HOLDS_OTHER.test(said.slice(item[0].length))) items.push(bounds(indent, item[2] ?? "", item[4] ?? ""));
      } else if (now.table && ROW.test(said) && lead === now.lead) now.marks = now.brackets = 0;
      else now.table = certain && now.lines === 1 && lead === now.lead && isTable(now.head, said);
      if (now.lines++ === 0) Object.assign(now, { head: said, lead });
      count(said, now);
    }
    most.marks = Math.max(most.marks, now.marks);
    most.brackets = Math.max(most.brackets, now.brackets);
  }
  return most;
}

function bounds(indent: number, marker: string, space: string): Item {
  const column = indent + marker.length;
  return { from: column + 1, to: column + (space.includes("\t") ? 4 : Math.min(4, space.length)) };
}

/** The line that ends a fence which is in no list: the last one where none does. */
function endOfFence(lines: string[], from: number, fence: string): number {
  for (let i = from + 1; i < lines.length; i++) {
    const end = ENDS_FENCE.exec(lines[i] ?? "");
    if (end && (end[1]?.length ?? 0) < 4 && end[2]?.startsWith(fence)) return i;
  }
  return lines.length;
}

/** The line that ends a fence whether or not it is in a list item: at its own indentation, as all is between them. -1 where none does. */
function endInItem(lines: string[], from: number, indent: string, fence: string): number {
  for (let i = from + 1; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const end = ENDS_FENCE.exec(line);
    if (end && end[2]?.startsWith(fence)) return end[1] === indent ? i : -1;
    if (!/^[ \t]*$/.test(line) && !line.startsWith(indent)) return -1;
  }
  return -1;
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
  const bars = (line: string) => line.replace(/\\./g, "").split("|").length;
  return ROW.test(head) && /\|[ \t]*$/.test(head.replace(/\\./g, "")) && RULED.test(below) && bars(head) === bars(below);
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
