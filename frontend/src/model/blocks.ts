// Splits Markdown into pieces, so that text that streams in needs only its last piece parsed again.

/**
 * The beginning of a link definition's label, as long as Markdown lets one be. No bracket is in it, so no
 * character is looked at for two of them, however many lines begin with one.
 */
export const LABEL = /\[(?:[^[\]\\]|\\[^]){1,999}/;
const DEFINITION = new RegExp(`^ {0,3}${LABEL.source}\\]:`, "m");

/** Splits at blank lines after which a new block surely begins. */
export function splitBlocks(text: string): string[] {
  if (text.length < 400 || DEFINITION.test(text)) return [text]; // a link definition counts in all blocks
  const out: string[] = [];
  let block: string[] = [];
  let fence = "";
  let blank = false;
  for (const line of text.split("\n")) {
    const f = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!fence && blank && block.length > 0 && startsBlock(line)) {
      out.push(block.join("\n"));
      block = [];
    }
    if (f) {
      if (!fence) fence = f;
      else if (f[0] === fence[0] && f.length >= fence.length && line.trim() === f) fence = "";
    }
    blank = !fence && line.trim() === "";
    block.push(line);
  }
  if (block.length > 0) out.push(block.join("\n"));
  return out;
}

/** A line that cannot belong to the list, quote or table before it. */
function startsBlock(line: string): boolean {
  return /^[^\s\-+*>|\d]/.test(line) || line.startsWith("**");
}

/** Characters of one text that are drawn at once. A text of 5 MB drawn whole stood still for minutes, measured. */
export const DRAWN_AT_ONCE = 50_000;
/** Characters of one text that are drawn at all; what is longer can be copied. */
export const DRAWN_AT_MOST = 800_000;

const isHalf = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** The beginning of a text, of at most so many characters. It ends with a line where one ends in its second half. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const blank = text.lastIndexOf("\n\n", most);
  const line = blank > most / 2 ? blank : text.lastIndexOf("\n", most);
  if (line > most / 2) return text.slice(0, line);
  return text.slice(0, isHalf(text.charCodeAt(most)) ? most - 1 : most);
}

/** The end of a text that is still written, of at most so many characters. */
export function latest(text: string, most: number): string {
  if (text.length <= most) return text;
  const from = text.length - most;
  const line = text.indexOf("\n", from);
  if (line >= 0 && line < from + most / 2) return text.slice(line + 1);
  return text.slice(isHalf(text.charCodeAt(from)) ? from + 1 : from);
}
