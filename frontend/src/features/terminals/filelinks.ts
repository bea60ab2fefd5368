// Links to files that output names. Ctrl or Command with a click shows the file in Loop; with Alt as well it opens in the person's editor.
import type { IBufferCell, IBufferLine, ILink, Terminal } from "@xterm/xterm";
import { cleanTitle } from "../../model/terminals/titles";
import type { FileRef, LinkHint } from "../../model/terminals/filelinks";
import { findFiles } from "../../model/terminals/filelinks";

const MAX_ROWS = 20; // the most rows of one wrapped line

export function addFileLinks(term: Terminal, mac: boolean, open: (f: FileRef, edit: boolean) => void, hint: (h: LinkHint) => void) {
  term.registerLinkProvider({
    provideLinks(row, done) {
      const { text, at } = wholeLine(term, row - 1);
      const links = findFiles(text).flatMap((f): ILink[] => {
        const start = at[f.from];
        const end = at[f.to - 1];
        if (!start || !end || row < start.y || row > end.y) return [];
        return [{
          range: { start, end },
          text: text.slice(f.from, f.to),
          activate(e) {
            if (!(mac ? e.metaKey : e.ctrlKey)) return;
            hint(null);
            open(f, e.altKey);
          },
          hover: (e) => hint({ x: e.clientX, y: e.clientY, target: cleanTitle(`${f.path}:${f.line}`), allowed: true, file: true }),
          leave: () => hint(null),
        }];
      });
      done(links.length > 0 ? links : undefined);
    },
  });
}

/** The text of the wrapped line that a row belongs to, and the cell of each UTF-16 unit. */
function wholeLine(term: Terminal, row: number): { text: string; at: { x: number; y: number }[] } {
  const b = term.buffer.active;
  let y = row;
  while (y > 0 && row - y < MAX_ROWS && b.getLine(y)?.isWrapped) y--;
  let text = "";
  const at: { x: number; y: number }[] = [];
  let cell: IBufferCell | undefined;
  let line: IBufferLine | undefined;
  for (let first = true; y < row + MAX_ROWS && (line = b.getLine(y)) && (first || line.isWrapped); y++, first = false) {
    for (let x = 0; x < line.length; x++) {
      cell = line.getCell(x, cell);
      if (!cell || cell.getWidth() === 0) continue;
      const chars = cell.getChars() || " ";
      text += chars;
      for (let i = 0; i < chars.length; i++) at.push({ x: x + 1, y: y + 1 });
    }
  }
  return { text, at };
}
