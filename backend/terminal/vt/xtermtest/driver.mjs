// Drives headless xterm.js for Go tests: commands on standard input, each a byte,
// a terminal's number and a length (both little-endian 32 bits) with a payload;
// dumps come back as a length and text.
import { createRequire } from "node:module";

const require = createRequire(process.argv[2]); // a folder with the packages
const { Terminal } = require("@xterm/headless");
const { Unicode11Addon } = require("@xterm/addon-unicode11");

const terms = new Map();

function open(cols, rows, scrollback) {
  const term = new Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: "off" });
  term.loadAddon(new Unicode11Addon());
  term.unicode.activeVersion = "11";
  const t = { term, core: term._core, held: Buffer.alloc(0), threw: "", links: new Map(), palette: new Map(), said: "", titles: [], bells: 0 };
  // Data of links is forgotten with their last marker; cells still name them.
  const links = t.core._oscLinkService;
  const register = links.registerLink.bind(links);
  links.registerLink = (data) => {
    const id = register(data);
    t.links.set(id, data);
    return id;
  };
  t.core._inputHandler.onColor((events) => {
    for (const e of events) {
      if (e.type === 1) t.palette.set(e.index, e.color);
      else if (e.type === 2 && e.index !== undefined) t.palette.delete(e.index);
      else if (e.type === 2) for (const k of [...t.palette.keys()]) if (k < 256) t.palette.delete(k);
    }
  });
  term.parser.registerCsiHandler({ final: "b" }, (params) => boundedRepeat(t.core, params[0] || 1));
  term.onData((s) => (t.said += s));
  term.onTitleChange((s) => t.titles.push(s));
  term.onBell(() => t.bells++);
  return t;
}

// boundedRepeat is the page's bound on repetitions (guard.ts), which is the state's
// too: four lines of characters.
function boundedRepeat(core, n) {
  const { buffer } = core;
  const h = core._inputHandler;
  const text = buffer.lines.get(buffer.ybase + buffer.y)?.getString(buffer.x - ((h._parser.precedingJoinState >> 1) & 3)) ?? "";
  const most = Math.floor((4 * core.cols) / Math.max(1, [...text].length));
  if (n <= most) return false;
  return most < 1 || h.repeatPrecedingCharacter({ params: [most], length: 1 });
}

// partial is the length of an incomplete character at the end. xterm.js loses
// some characters that two writes divide, so they are held back, as the page does.
function partial(b) {
  for (let n = 1; n <= 3 && n <= b.length; n++) {
    const c = b[b.length - n];
    if ((c & 0xc0) === 0x80) continue;
    const need = (c & 0xe0) === 0xc0 ? 2 : (c & 0xf0) === 0xe0 ? 3 : (c & 0xf8) === 0xf0 ? 4 : 1;
    return need > n ? n : 0;
  }
  return 0;
}

function write(t, data) {
  if (t.threw) return;
  let b = t.held.length ? Buffer.concat([t.held, data]) : data;
  const n = partial(b);
  t.held = Buffer.from(b.subarray(b.length - n));
  b = b.subarray(0, b.length - n);
  try {
    for (let i = 0; i < b.length; ) {
      let end = Math.min(i + 100000, b.length); // xterm.js divides above 131072
      if (end < b.length) end -= partial(b.subarray(i, end));
      t.core._inputHandler.parse(b.subarray(i, end));
      i = end;
    }
  } catch (e) {
    t.threw = String(e.message);
  }
}

function resize(t, cols, rows) {
  if (t.threw) return;
  try {
    t.term.resize(cols, rows);
  } catch (e) {
    t.threw = String(e.message);
  }
}

const hex = (v) => (v >>> 0).toString(16);

// Leftovers of an earlier colour in bits that the colour's kind does not use.
function color(v) {
  const mode = v & 0x3000000;
  if (mode === 0x3000000) return v >>> 0;
  if (mode === 0) return (v & ~0xffffff) >>> 0;
  return (v & ~0xffff00) >>> 0;
}

function attr(t, fg, bg, ext, withExt) {
  let s = `{${hex(color(fg))}.${hex(color(bg))}`;
  if (withExt) {
    s += "." + hex(color(ext?._ext ?? 0));
    if (ext?._urlId) {
      const l = t.links.get(ext._urlId);
      s += `.${l?.id ?? ""}.${l?.uri}`;
    }
  }
  return s + "}";
}

function charset(c) {
  if (!c) return "-";
  return Object.keys(c)
    .sort((a, b) => a.charCodeAt(0) - b.charCodeAt(0))
    .map((k) => `${hex(k.charCodeAt(0))}>${hex(c[k].charCodeAt(0))},`)
    .join("");
}

const WIDTH1 = 1 << 22;
const HAS_EXT = 0x10000000;

function cells(t, line, n) {
  const data = line._data;
  n = Math.min(n, line.length);
  while (n > 0 && data[n * 3 - 3] === WIDTH1 && color(data[n * 3 - 2]) === 0 && color(data[n * 3 - 1]) === 0) n--;
  let out = "";
  let last = "";
  for (let i = 0; i < n; i++) {
    const code = data[i * 3];
    const bg = data[i * 3 + 2];
    const a = attr(t, data[i * 3 + 1], bg, line._extendedAttrs[i], (bg & HAS_EXT) !== 0);
    if (a !== last) out += " " + (last = a);
    out += code & 0x200000 ? ` ${code >> 22}${quote(line._combined[i])}` : " " + hex(code);
  }
  return out;
}

// As Go's %q for the characters that occur.
function quote(s) {
  let out = '"';
  for (const ch of s ?? "undefined") out += `<${hex(ch.codePointAt(0))}>`;
  return out + '"';
}

const PROTOCOLS = { NONE: 0, X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 };
const ENCODINGS = { DEFAULT: 0, SGR: 1006, SGR_PIXELS: 1016 };
const SHAPES = { block: 1, underline: 2, bar: 3 };

function buffer(t, name, b, exact, cols, rows) {
  let sx = b.savedX;
  let sy = b.savedY;
  if (!exact) {
    sx = Math.min(sx, cols - 1);
    sy = Math.min(sy, b.ybase + rows - 1);
  }
  sy = Math.max(sy, 0);
  const x = exact || b === t.core.buffers.active ? b.x : 0;
  let out = `${name}: lines ${b.lines.length} base ${b.ybase} cursor ${x},${b.y} margins ${b.scrollTop},${b.scrollBottom}\n`;
  out += `${name}: saved ${sx},${sy} ${attr(t, b.savedCurAttrData.fg, b.savedCurAttrData.bg & ~HAS_EXT, 0, false)} ${charset(b.savedCharset)}\n`;
  out += `${name}: tabs`;
  for (let i = 0; i < cols; i++) if (b.tabs[i]) out += " " + i;
  out += "\n";
  for (let i = 0; i < b.lines.length; i++) {
    const l = b.lines.get(i);
    out += `${name} ${i}${l?.isWrapped ? " wrapped" : ""}${l ? cells(t, l, exact ? l.length : cols) : " undefined"}\n`;
  }
  return out;
}

function dump(t, exact) {
  if (t.threw) return "threw " + t.threw;
  const { core } = t;
  const { cols, rows, buffers } = core._bufferService;
  const h = core._inputHandler;
  const cs = core.coreService;
  const d = cs.decPrivateModes;
  const o = core.optionsService.rawOptions;
  const c = core._charsetService;
  let out = `size ${cols} ${rows}\nactive ${buffers.active === buffers.alt ? "alt" : "normal"}\n`;
  out += `state ${h._parser.currentState}\njoin ${(h._parser.precedingJoinState >> 1) & 3}\n`;
  out += `pen ${attr(t, h._curAttrData.fg, h._curAttrData.bg, h._curAttrData.extended, true)}\n`;
  out += `modes insert=${cs.modes.insertMode} newline=${o.convertEol} appcursor=${d.applicationCursorKeys} appkeypad=${d.applicationKeypad} paste=${d.bracketedPasteMode} origin=${d.origin} reversewrap=${d.reverseWraparound} focus=${d.sendFocus} sync=${d.synchronizedOutput} wrap=${d.wraparound} hidden=${cs.isCursorHidden} style=${SHAPES[d.cursorStyle] ?? 0} blink=${d.cursorBlink === undefined ? 0 : d.cursorBlink ? 1 : -1} optblink=${o.cursorBlink} mouse=${PROTOCOLS[core.coreMouseService.activeProtocol]} encoding=${ENCODINGS[core.coreMouseService.activeEncoding]}\n`;
  out += `charset ${charset(c.charset)} of ${c.glevel}\n`;
  for (let g = 0; g < 4; g++) out += `g${g} ${charset(c._charsets[g])}\n`;
  out += "palette";
  for (const k of [...t.palette.keys()].sort((a, b) => a - b)) out += ` ${k}=${t.palette.get(k).join(",")}`;
  out += "\n";
  out += buffer(t, "normal", buffers.normal, exact, cols, rows);
  out += buffer(t, "alt", buffers.alt, exact, cols, rows);
  return out;
}

function answer(s) {
  const b = Buffer.from(s);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(b.length);
  process.stdout.write(Buffer.concat([head, b]));
}

function run(op, id, p) {
  const t = terms.get(id);
  switch (op) {
    case "n":
      terms.set(id, open(p.readUInt32LE(0), p.readUInt32LE(4), p.readUInt32LE(8)));
      break;
    case "w":
      write(t, p);
      break;
    case "r":
      resize(t, p.readUInt32LE(0), p.readUInt32LE(4));
      break;
    case "d":
      answer(dump(t, p[0] === 1));
      break;
    case "s":
      answer(t.said);
      break;
    case "t":
      answer(JSON.stringify({ titles: t.titles, bells: t.bells }));
      break;
    case "u": { // widths of all code points
      const out = Buffer.alloc(0x110000);
      for (let i = 0; i < out.length; i++) out[i] = t.core.unicodeService.wcwidth(i);
      answer(out);
      break;
    }
    case "x":
      t.term.dispose();
      terms.delete(id);
  }
}

let rest = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  rest = rest.length ? Buffer.concat([rest, chunk]) : chunk;
  let at = 0;
  while (rest.length - at >= 9) {
    const n = rest.readUInt32LE(at + 5);
    if (rest.length - at < 9 + n) break;
    run(String.fromCharCode(rest[at]), rest.readUInt32LE(at + 1), rest.subarray(at + 9, at + 9 + n));
    at += 9 + n;
  }
  rest = rest.subarray(at);
});
process.stdin.on("end", () => process.exit(0));
