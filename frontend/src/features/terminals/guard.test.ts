import { createRequire } from "node:module";
import type { Terminal } from "@xterm/xterm";
import { describe, expect, it } from "vitest";
import { guardParser, WholeCharacters } from "./guard";

const require = createRequire(import.meta.url);
const { Terminal: Headless } = require("@xterm/headless") as { Terminal: new (o: object) => Terminal };

function make(guarded = true) {
  const t = new Headless({ cols: 80, rows: 24, scrollback: 100, allowProposedApi: true, logLevel: "off" });
  let broken = 0;
  if (guarded) guardParser(t, () => broken++);
  return { t, broken: () => broken };
}
const write = (t: Terminal, s: string | Uint8Array) => new Promise<void>((r) => t.write(s, r));
const row = (t: Terminal, y: number) => t.buffer.active.getLine(t.buffer.active.baseY + y)?.translateToString(true);

describe("whole characters", () => {
  const text = new TextEncoder().encode("a—b• “x” 中\u4000😀é");
  it("are written however the bytes are cut", async () => {
    for (let size = 1; size <= text.length; size++) {
      const { t } = make();
      const whole = new WholeCharacters();
      for (let i = 0; i < text.length; i += size) await write(t, whole.take(text.subarray(i, i + size)));
      expect(row(t, 0)).toBe("a—b• “x” 中\u4000😀é");
    }
  });
  it("xterm.js loses some by itself", async () => {
    const { t } = make(false);
    await write(t, text.subarray(0, 3));
    await write(t, text.subarray(3));
    expect(row(t, 0)).not.toContain("—");
  });
  it("lets bytes that begin nothing through", () => {
    const whole = new WholeCharacters();
    expect([...whole.take(Uint8Array.of(0x80, 0xff, 0xc3))]).toEqual([0x80, 0xff]);
    expect([...whole.take(Uint8Array.of(0x41))]).toEqual([0xc3, 0x41]);
    expect([...whole.take(Uint8Array.of(0x80, 0x80, 0x80, 0x80))]).toEqual([0x80, 0x80, 0x80, 0x80]);
  });
});

describe("guard", () => {
  it("erases above from the last cell of a screen without scrollback", async () => {
    const { t, broken } = make();
    await write(t, "one\r\ntwo\u001b[24;80Hx\u001b[1Jafter\u001b[24;80H\u001b[?1J!");
    expect([row(t, 0), row(t, 1), broken()]).toEqual(["", "", 0]);
  });
  it.each(["S", "T", "L", "M", "I", "Z", "b"])("takes any count for CSI %s", async (final) => {
    const { t, broken } = make();
    await write(t, `x\u001b[2147483647${final}y`);
    expect(broken()).toBe(0);
  });
  it("repeats at most four lines, however much one cell holds", async () => {
    const { t } = make();
    const width = () => t.buffer.active.baseY * 80 + t.buffer.active.cursorY * 80 + t.buffer.active.cursorX;
    await write(t, "a\u001b[2147483647b");
    expect(width()).toBe(321);
    await write(t, "\u001bca\u001b[300b");
    expect(width()).toBe(301);
    await write(t, `\u001bce${"\u0301".repeat(9)}\u001b[999b`);
    expect(width()).toBe(33);
    await write(t, `\u001bce${"\u0301".repeat(100_000)}\u001b[9b\u001b[b`);
    expect(width()).toBe(1 + 2); // a repetition cannot be repeated
    expect(t.buffer.active.getLine(0)?.getCell(0)?.getChars()).toBe(`e${"\u0301".repeat(127)}`);
    await write(t, `\u001bc中${"\u0301\u{e0100}".repeat(1000)}x`);
    expect(t.buffer.active.getLine(0)?.getCell(0)?.getWidth()).toBe(2);
    expect(t.buffer.active.getLine(0)?.getCell(2)?.getChars()).toBe("x");
    await write(t, "a\u001b[2147483647b".repeat(4000)); // takes minutes without the bound
  });
  it("goes on after an error", async () => {
    const { t, broken } = make();
    t.parser.registerCsiHandler({ final: "w" }, () => {
      throw new Error("broken");
    });
    await write(t, "a\u001b[wlost");
    await write(t, "\u0018b");
    expect([row(t, 0), broken()]).toEqual(["ab", 1]);
  });
});
