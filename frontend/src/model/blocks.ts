// Splits Markdown into pieces, so that text that streams in needs only its last piece parsed again.

/** Splits at blank lines after which a new block surely begins. */
export function splitBlocks(text: string): string[] {
  if (text.length < 400 || /^ {0,3}\[[^\]]+\]:/m.test(text)) return [text]; // a link definition counts in all blocks
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
