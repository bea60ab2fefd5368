// What xterm.js 6.0.0 does not stand, and what a program must not be able to do
// to a pane: characters divided between two writes, an error in the middle of
// parsing, and counts that keep it busy for minutes.
import type { IDisposable, Terminal } from "@xterm/xterm";

/**
 * Holds back the beginning of a character at the end of what is written. xterm.js
 * takes a continuation byte 0x80 that it kept for none at all and loses the
 * character: a dash, a bullet, a quotation mark.
 */
export class WholeCharacters {
  private held = new Uint8Array(0);

  take(data: Uint8Array): Uint8Array {
    let all = data;
    if (this.held.length > 0) {
      all = new Uint8Array(this.held.length + data.length);
      all.set(this.held);
      all.set(data, this.held.length);
    }
    const n = begun(all);
    this.held = all.slice(all.length - n);
    return n > 0 ? all.subarray(0, all.length - n) : all;
  }
}

/** How many bytes at the end begin a character that is not whole. */
function begun(b: Uint8Array): number {
  for (let n = 1; n <= 3 && n <= b.length; n++) {
    const c = b[b.length - n] ?? 0;
    if ((c & 0xc0) === 0x80) continue;
    const need = (c & 0xe0) === 0xc0 ? 2 : (c & 0xf0) === 0xe0 ? 3 : (c & 0xf8) === 0xf0 ? 4 : 1;
    return need > n ? n : 0;
  }
  return 0;
}

/* eslint-disable no-underscore-dangle -- xterm.js names them so */
type Counted = { params: number[]; length: number };
type Handler = Record<"scrollUp" | "scrollDown" | "insertLines" | "deleteLines" | "cursorForwardTab" | "cursorBackwardTab" | "repeatPrecedingCharacter", (p: Counted) => boolean> & {
  parse(data: unknown, result?: boolean): unknown;
  eraseInDisplay(p: Counted, selective: boolean): boolean;
  _parser: { precedingJoinState: number };
};
type Line = {
  getString(x: number): string;
  addCodepointToCell(x: number, code: number, width: number): void;
  _data: Uint32Array;
  _combined: Record<number, string>;
};
type Lines = { get(i: number): Line | undefined };
type Core = { _inputHandler: Handler; buffer: { x: number; y: number; ybase: number; lines: Lines } };
/** Bytes of UTF-8 in one cell: a letter under a million accents would be drawn anew for each. The same in the session's screen. */
const CELL_BYTES = 256;
/** Lines that one repetition may print: no more work than a few line feeds. The session's own screen has the same rule. */
const REPEAT_LINES = 4;

const bytes = (s: string) => [...s].reduce((n, ch) => n + utf8(ch.codePointAt(0) ?? 0), 0);
const utf8 = (c: number) => (c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
const guarded = new WeakSet<Line>();

/** Once for the lines of all terminals. */
function boundCells(lines: Lines) {
  const proto = Object.getPrototypeOf(lines.get(0) ?? null) as Line | null;
  if (!proto || guarded.has(proto)) return;
  guarded.add(proto);
  const add = proto.addCodepointToCell;
  proto.addCodepointToCell = function (this: Line, x, code, width) {
    const held = this._combined[x];
    const cell = this._data[x * 3] ?? 0;
    if (!(cell & 0x200000) || !held || held.length * 3 + 4 <= CELL_BYTES || bytes(held) + utf8(code) <= CELL_BYTES) add.call(this, x, code, width);
    else if (width) this._data[x * 3] = (cell & ~0xc00000) | (width << 22);
  };
}

/**
 * Must come after all other handlers. broken says that xterm.js lost the rest of
 * a write to an error of its own: the picture must be asked for again.
 */
export function guardParser(term: Terminal, broken: () => void): IDisposable[] {
  const core = (term as unknown as { _core: Core })._core;
  const h = core._inputHandler;
  boundCells(core.buffer.lines);
  const parse = h.parse.bind(h);
  // An error would stop all writing to this terminal for good.
  h.parse = (data, result) => {
    try {
      return parse(data, result);
    } catch {
      broken();
      return undefined;
    }
  };

  const p = term.parser;
  const first = (params: (number | number[])[]) => (typeof params[0] === "number" ? params[0] : 0);
  // Beyond the limit, more makes no difference; xterm.js takes each step.
  const bound = (final: string, name: Exclude<keyof Handler, "parse" | "eraseInDisplay" | "_parser">, limit: (n: number) => number) =>
    p.registerCsiHandler({ final }, (params) => {
      const n = first(params);
      const most = limit(n);
      return n > most && (most < 1 || h[name]({ params: [most], length: 1 }));
    });
  const rows = () => term.rows;
  const cols = () => term.cols;
  const erase = (selective: boolean) => (params: (number | number[])[]) => {
    const { buffer } = core;
    if (first(params) !== 1 || buffer.x + 1 < term.cols || buffer.lines.get(buffer.y + 1)) return false;
    // It goes on to a line that may not be there.
    const { lines } = buffer;
    const get = lines.get;
    lines.get = (i) => get.call(lines, i) ?? ({} as Line);
    try {
      return h.eraseInDisplay({ params: [1], length: 1 }, selective);
    } finally {
      lines.get = get;
    }
  };
  return [
    bound("S", "scrollUp", rows), bound("T", "scrollDown", rows), bound("L", "insertLines", rows), bound("M", "deleteLines", rows),
    bound("I", "cursorForwardTab", cols), bound("Z", "cursorBackwardTab", cols),
    bound("b", "repeatPrecedingCharacter", () => {
      const { buffer } = core;
      const all = REPEAT_LINES * term.cols;
      const text = buffer.lines.get(buffer.ybase + buffer.y)?.getString(buffer.x - ((h._parser.precedingJoinState >> 1) & 3)) ?? "";
      return text.length > 2 * all ? 0 : Math.floor(all / Math.max(1, [...text].length));
    }),
    p.registerCsiHandler({ final: "J" }, erase(false)),
    p.registerCsiHandler({ prefix: "?", final: "J" }, erase(true)),
  ];
}
