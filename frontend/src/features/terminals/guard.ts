// Guards a pane against output that xterm.js 6.0.0 cannot stand: characters divided
// between two writes, sequences that make the parser throw, and counts that keep it busy
// for minutes.
import type { IDisposable, Terminal } from "@xterm/xterm";

/**
 * Holds back an incomplete character at the end of a write. xterm.js keeps such bytes
 * itself, but takes a kept continuation byte 0x80 for none. Then it loses the character,
 * such as a dash, a bullet or a quotation mark.
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

/** The number of bytes at the end that begin an incomplete character. */
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
/** The most bytes of UTF-8 in one cell, as in the session's own screen. Each accent draws its letter anew: a million would take long. */
const CELL_BYTES = 256;
/** The most lines that one repetition may print, as in the session's own screen. It is then no more work than a few line feeds. */
const REPEAT_LINES = 4;

const bytes = (s: string) => [...s].reduce((n, ch) => n + utf8(ch.codePointAt(0) ?? 0), 0);
const utf8 = (c: number) => (c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
const guarded = new WeakSet<Line>();

/** Bounds the cells of all terminals: their lines share one prototype. */
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
 * Guards the parser of a terminal. Call it after all other handlers are registered. broken
 * is called when xterm.js lost the rest of a write to an error of its own. The pane must
 * then ask for a new snapshot.
 */
export function guardParser(term: Terminal, broken: () => void): IDisposable[] {
  const core = (term as unknown as { _core: Core })._core;
  const h = core._inputHandler;
  boundCells(core.buffer.lines);
  const parse = h.parse.bind(h);
  // An error that left parse would stop all writing to this terminal for good.
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
  // A count beyond the limit changes nothing more, but xterm.js would take each step.
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
    // xterm.js also erases the next line, which may not exist.
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
