// Turns unified hunks into numbered lines. Loop makes the patch from a tool's result and
// bounds it, but the text in it is the agent's. A malformed line becomes a plain one and
// is not dropped.
export type PatchLine = { kind: "add" | "del" | "same" | "hunk"; oldNo: number; newNo: number; text: string };

const HUNK = /^@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+ ?(.*)$/;

export function parsePatch(patch: string): PatchLine[] {
  const out: PatchLine[] = [];
  let oldNo = 1;
  let newNo = 1;
  let inHunk = false;
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const h = HUNK.exec(line);
    if (h) {
      oldNo = Number(h[1]);
      newNo = Number(h[2]);
      inHunk = true;
      out.push({ kind: "hunk", oldNo, newNo, text: h[3] ?? "" });
    } else if (!inHunk && (line.startsWith("--- ") || line.startsWith("+++ ") || line.startsWith("diff ") || line.startsWith("index "))) {
      continue;
    } else if (line.startsWith("+")) {
      out.push({ kind: "add", oldNo: 0, newNo: newNo++, text: line.slice(1) });
    } else if (line.startsWith("-")) {
      out.push({ kind: "del", oldNo: oldNo++, newNo: 0, text: line.slice(1) });
    } else if (line.startsWith("\\")) {
      out.push({ kind: "hunk", oldNo: 0, newNo: 0, text: line.slice(2) });
    } else {
      out.push({ kind: "same", oldNo: oldNo++, newNo: newNo++, text: line.startsWith(" ") ? line.slice(1) : line });
    }
  }
  return out;
}
