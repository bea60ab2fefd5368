// What a program printed, as a terminal would show it: lines of coloured pieces. The text is
// hostile. Of all escape sequences only colours and the erasing of a line count, and the
// rest is dropped. Colours are the sixteen of the theme, so that all text can be read.
export type Look = {
  fg: number; // one of the theme's sixteen colours, -1 for the usual one
  bg: number;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
};
export type Piece = { text: string; look: Look };

export const PLAIN: Look = { fg: -1, bg: -1, bold: false, dim: false, italic: false, underline: false, inverse: false };

const MOST_LOOKS = 4000; // changes of the look that are followed, so that colours in each character stay cheap
const MOST_STRING = 2048; // characters of a title or a link in the output; one without an end hides no more than its start
const MOST_PARAMS = 64;

type Cell = { ch: string; look: Look };

/** The lines of a text with escape sequences. */
export function ansiLines(text: string): Piece[][] {
  const out: Piece[][] = [];
  let look = PLAIN;
  let looks = 0;
  let cells: Cell[] = [];
  let at = 0;
  for (let i = 0; i < text.length; ) {
    const ch = String.fromCodePoint(text.codePointAt(i) ?? 0);
    if (ch === "\n") {
      out.push(pieces(cells));
      cells = [];
      at = 0;
      i++;
    } else if (ch === "\r") {
      at = 0;
      i++;
    } else if (ch === "\b" && at > 0) {
      at--;
      i++;
    } else if (ch === "\u001b" || ch === "\u009b") {
      const seq = sequence(text, i);
      i += Math.max(seq.length, 1);
      if (seq.length === 0) cells[at++] = { ch, look }; // a lone ESC is shown by name
      else if (seq.kind === "m" && looks < MOST_LOOKS) {
        look = restyled(look, seq.params);
        looks++;
      } else if (seq.kind === "K") cells = erased(cells, at, seq.params);
    } else {
      cells[at++] = { ch, look };
      i += ch.length;
    }
  }
  out.push(pieces(cells));
  return out;
}

function pieces(cells: Cell[]): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (let i = 1; i <= cells.length; i++) {
    if (i < cells.length && cells[i]?.look === cells[from]?.look) continue;
    const look = cells[from]?.look;
    if (look) out.push({ text: cells.slice(from, i).map((c) => c.ch).join(""), look });
    from = i;
  }
  return out;
}

function erased(cells: Cell[], at: number, params: string): Cell[] {
  const blank = (c: Cell, i: number): Cell => (i <= at ? { ch: " ", look: PLAIN } : c);
  if (params === "1") return cells.map(blank);
  return params === "2" ? cells.slice(0, at).map(blank) : params === "" || params === "0" ? cells.slice(0, at) : cells;
}

type Sequence = { length: number; kind: string; params: string };

/** The escape sequence at a place. A length of 0 means that there is none. */
function sequence(text: string, at: number): Sequence {
  const short = text[at] === "\u009b";
  const next = short ? "[" : (text[at + 1] ?? "");
  const from = at + (short ? 1 : 2);
  if (next === "[") {
    let i = from;
    while (i < text.length && i - from < MOST_PARAMS && between(text, i, 0x20, 0x3f)) i++;
    return between(text, i, 0x40, 0x7e) ? { length: i + 1 - at, kind: text[i] ?? "", params: text.slice(from, i) } : { length: i - at, kind: "", params: "" };
  }
  if (next !== "" && "]PX^_".includes(next)) {
    for (let i = from; i < text.length && i - from < MOST_STRING; i++) {
      if (text[i] === "\u0007") return { length: i + 1 - at, kind: "", params: "" };
      if (text[i] === "\u001b" && text[i + 1] === "\\") return { length: i + 2 - at, kind: "", params: "" };
    }
    return { length: 2, kind: "", params: "" };
  }
  if (next !== "" && "()*+#%".includes(next)) return { length: Math.min(3, text.length - at), kind: "", params: "" };
  return { length: between(text, at + 1, 0x30, 0x7e) ? 2 : 0, kind: "", params: "" };
}

function between(text: string, i: number, from: number, to: number): boolean {
  const c = text.charCodeAt(i);
  return c >= from && c <= to;
}

const SET: Record<number, Partial<Look>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true }, 22: { bold: false, dim: false },
  23: { italic: false }, 24: { underline: false }, 27: { inverse: false }, 39: { fg: -1 }, 49: { bg: -1 },
};

function restyled(look: Look, params: string): Look {
  if (!/^[0-9;:]*$/.test(params)) return look; // a private sequence
  // Underlines of several kinds have a second part behind a colon. A colour may be written so too.
  const codes = params.replace(/4:([0-9])/g, (_, n: string) => (n === "0" ? "24" : "4")).split(/[;:]/).map(Number);
  let l = look;
  for (let i = 0; i < codes.length; i++) {
    const n = codes[i] ?? 0;
    const set = SET[n];
    if (n === 0) l = PLAIN;
    else if (set) l = { ...l, ...set };
    else if (n >= 30 && n <= 37) l = { ...l, fg: n - 30 };
    else if (n >= 90 && n <= 97) l = { ...l, fg: n - 82 };
    else if (n >= 40 && n <= 47) l = { ...l, bg: n - 40 };
    else if (n >= 100 && n <= 107) l = { ...l, bg: n - 92 };
    else if (n === 38 || n === 48) {
      const wide = codes[i + 1] === 2;
      const rest = codes.slice(i + 2, i + (wide ? 5 : 3)).map((c) => Math.min(255, c || 0));
      const colour = wide ? nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0) : codes[i + 1] === 5 ? ofPalette(rest[0] ?? 0) : -1;
      l = n === 38 ? { ...l, fg: colour } : { ...l, bg: colour };
      i += wide ? 4 : 2;
    }
  }
  return l;
}

/** A colour of the palette of 256. */
function ofPalette(n: number): number {
  if (n < 16) return n;
  if (n >= 232) return nearest(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
}

const BY_HUE = [1, 3, 2, 6, 4, 5]; // red, yellow, green, cyan, blue, magenta, each 60° wide

/** The colour of the theme that is like another, by its hue. */
function nearest(r: number, g: number, b: number): number {
  const max = Math.max(r, g, b);
  const span = max - Math.min(r, g, b);
  if (span < 40) return max < 64 ? 0 : max < 150 ? 8 : max < 230 ? 7 : 15;
  const sector = max === r ? ((g - b) / span + 6) % 6 : max === g ? (b - r) / span + 2 : (r - g) / span + 4;
  return (BY_HUE[Math.round(sector) % 6] ?? 7) + (max - span > 90 ? 8 : 0);
}
