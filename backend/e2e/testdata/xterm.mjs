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

const attributes = ["isBold", "isDim", "isItalic", "isUnderline", "isBlink", "isInverse", "isInvisible", "isStrikethrough", "isOverline"];

const cellText = (c) =>
  [c.getChars(), c.getWidth(), c.getFgColorMode(), c.getFgColor(), c.getBgColorMode(), c.getBgColor(), ...attributes.map((a) => c[a]())].join(" ");

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
    const g = cellText(a.getCell(x));
    const w = cellText(b.getCell(x));
    if (x === cols - 1 && b.getCell(x).getWidth() === 2) continue;
    if (g !== w) return `${texts()}: cell ${x} is ${g}, want ${w}`;
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
      await new Promise((done) => t.write(Buffer.from(m.data, "base64"), done));
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
      break;
  }
}
