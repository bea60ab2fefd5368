// node flooder.mjs MB: a program that floods its terminal on command. On "go" it prints
// MB megabytes; on "on" it prints without end, and answers each "k" with a new title.
import { LINE } from "./flood-line.mjs";

const [, , mb] = process.argv;
const chunk = Buffer.from(LINE.repeat(Math.ceil(65_536 / LINE.length)));
let endless = false;
let answers = 0;
process.stdin.setRawMode(true);

function print(left) {
  if (left <= 0) return process.stdout.write("\u001b]2;flooded\u0007");
  process.stdout.write(chunk, () => setImmediate(print, left - chunk.length));
}

process.stdin.on("data", (d) => {
  const text = String(d);
  if (text.includes("go")) print(Number(mb) * 1e6);
  if (text.includes("on") && !endless) {
    endless = true;
    print(Infinity);
  }
  for (const c of text) if (endless && c === "k") process.stdout.write(`\u001b]2;answer ${answers++}\u0007`);
});
process.stdout.write("\u001b]2;flooding\u0007");
