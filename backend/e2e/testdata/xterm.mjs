// Headless xterm.js terminals for tests, driven by JSON lines on standard input.
// {id, op: "new", cols, rows} | {id, op: "write", data: base64} |
// {id, op: "resize", cols, rows} | {id, op: "same", as} | {id, op: "dispose"}
// "same" answers one JSON line: an empty text, or where the two terminals first
// differ in a cell, a line that goes on in the next, the cursor or a mode. The
// alternate screen counts while it is shown: it is cleared whenever it is entered.
import { createRequire } from "node:module";
import readline from "node:readline";
import path from "node:path";

const require = createRequire(path.join(process.argv[2], "package.json"));
const { Terminal } = require("@xterm/headless");
const { Unicode11Addon } = require("@xterm/addon-unicode11");

const terms = new Map();
const held = new Map(); // by terminal: the beginning of a character

// xterm.js loses a character that is cut after a byte 0x80, as “—” may be, wherever
// a program's output happens to be divided. The page gives it whole characters, too.
function whole(id, data) {
  const all = Buffer.concat([held.get(id) ?? Buffer.alloc(0), data]);
  let begun = 0;
  for (let n = 1; n <= 3 && n <= all.length; n++) {
    const c = all[all.length - n];
    if ((c & 0xc0) === 0x80) continue;
    if (c >= 0xc0 && n < (c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4)) begun = n;
    break;
  }
  held.set(id, all.subarray(all.length - begun));
  return all.subarray(0, all.length - begun);
}

const attributes = ["isBold", "isDim", "isItalic", "isUnderline", "isBlink", "isInverse", "isInvisible", "isStrikethrough", "isOverline"];

const facts = ["getChars", "getWidth", "getFgColorMode", "getFgColor", "getBgColorMode", "getBgColor", ...attributes];

const cellText = (c) => facts.map((f) => c[f]()).join(" ");

// Two cells that are used again and again: millions are compared.
let cellA, cellB;

// A terminal that was made narrower keeps the cells that are beyond its edge, and
// half of a wide character that stood on it, until the program draws again. Nobody
// can see or print those.
function differentLine(got, want, y, cols) {
  const a = got.getLine(y);
  const b = want.getLine(y);
  const text = (l) => JSON.stringify(l.translateToString(true, 0, cols));
  const texts = () => `line ${y} of ${want.length}: ${text(a)}, want ${text(b)}`;
  if (a.isWrapped !== b.isWrapped) return `${texts()}: goes on ${a.isWrapped}, want ${b.isWrapped}`;
  for (let x = 0; x < cols; x++) {
    cellA = a.getCell(x, cellA);
    cellB = b.getCell(x, cellB);
    if (x === cols - 1 && cellB.getWidth() === 2) continue;
    if (facts.some((f) => cellA[f]() !== cellB[f]())) return `${texts()}: cell ${x} is ${cellText(cellA)}, want ${cellText(cellB)}`;
  }
  return "";
}

function differentScreen(got, want, cols) {
  const where = (b) => `cursor ${b.cursorX},${b.cursorY} base ${b.baseY} of ${b.length} lines`;
  if (where(got) !== where(want)) return `${where(got)}, want ${where(want)}`;
  for (let y = 0; y < want.length; y++) {
    const d = differentLine(got, want, y, cols);
    if (d) return d;
  }
  return "";
}

function different(got, want) {
  const head = (t) => JSON.stringify([t.cols, t.rows, t.buffer.active.type, t.modes]);
  if (head(got) !== head(want)) return `${head(got)}, want ${head(want)}`;
  const d = differentScreen(got.buffer.active, want.buffer.active, want.cols);
  if (d || want.buffer.active.type === "normal") return d;
  return differentScreen(got.buffer.normal, want.buffer.normal, want.cols);
}

const input = readline.createInterface({ input: process.stdin });
let last = Promise.resolve();
input.on("line", (text) => {
  last = last.then(() => handle(JSON.parse(text)));
});

async function handle(m) {
  const t = terms.get(m.id);
  switch (m.op) {
    case "new": {
      const fresh = new Terminal({ cols: m.cols, rows: m.rows, scrollback: 10000, allowProposedApi: true });
      fresh.loadAddon(new Unicode11Addon());
      fresh.unicode.activeVersion = "11";
      terms.set(m.id, fresh);
      break;
    }
    case "write":
      await new Promise((done) => t.write(whole(m.id, Buffer.from(m.data, "base64")), done));
      break;
    case "resize":
      t.resize(m.cols, m.rows);
      break;
    case "same":
      process.stdout.write(JSON.stringify(different(t, terms.get(m.as))) + "\n");
      break;
    case "dispose":
      t.dispose();
      terms.delete(m.id);
      held.delete(m.id);
      break;
  }
}
