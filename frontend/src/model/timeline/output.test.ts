import { describe, expect, it } from "vitest";
import { ansiLines, PLAIN } from "./ansi";
import { outputText, outputView, withoutExit } from "./output";

const E = "\u001b";
const shown = (text: string) => ansiLines(text).map((l) => l.map((p) => p.text).join(""));
const looks = (text: string) => ansiLines(text).flat().map((p) => ({ text: p.text, ...Object.fromEntries(Object.entries(p.look).filter(([k, v]) => v !== PLAIN[k as keyof typeof PLAIN])) }));

describe("colours of a terminal", () => {
  it("has the sixteen, bold and the like, and their end", () => {
    expect(looks(`a${E}[1;31mb${E}[22mc${E}[39md`)).toEqual([{ text: "a" }, { text: "b", bold: true, fg: 1 }, { text: "c", fg: 1 }, { text: "d" }]);
    expect(looks(`${E}[92;104mx${E}[mz`)).toEqual([{ text: "x", fg: 10, bg: 12 }, { text: "z" }]);
    expect(looks(`${E}[2mx${E}[0;3my${E}[0;4:3mz${E}[4:0m-${E}[7mi`)).toEqual([
      { text: "x", dim: true }, { text: "y", italic: true }, { text: "z", underline: true }, { text: "-" }, { text: "i", inverse: true },
    ]);
  });
  it("takes the nearest of the theme for the 256 and for true colours", () => {
    expect(looks(`${E}[38;5;9ma${E}[38;5;203mb${E}[38;5;46mc${E}[38;5;21md${E}[38;5;244me`).map((l) => "fg" in l && l.fg)).toEqual([9, 9, 2, 4, 8]);
    expect(looks(`${E}[38;2;120;60;60mx${E}[1my`)).toEqual([{ text: "x", fg: 1 }, { text: "y", fg: 1, bold: true }]);
  });
  it("survives what is no sequence", () => {
    expect(looks(`${E}[38;5mx`)).toEqual([{ text: "x", fg: 0 }]);
    expect(looks(`${E}[38;9;1mx${E}[?1;31my${E}[999mz`)).toEqual([{ text: "xyz" }]);
  });
  it("begins no line anew, and keeps colours over line ends", () => {
    expect(ansiLines(`${E}[31ma\nb`).map((l) => l[0]?.look.fg)).toEqual([1, 1]);
  });
});

describe("other sequences", () => {
  it("drops titles, links, places and character sets", () => {
    expect(shown(`${E}]0;title\u0007a${E}]8;;http://x${E}\\link${E}]8;;${E}\\${E}[2J${E}[10;3Hb${E}(Bc${E}=d`)).toEqual(["alinkbcd"]);
  });
  it("hides nothing behind one without an end, and keeps a lone ESC to be named", () => {
    expect(shown(`${E}]0;no end\nnext`)).toEqual(["0;no end", "next"]);
    expect(shown(`a${E}`)).toEqual([`a${E}`]);
    expect(shown(`a${E}\nb`)).toEqual([`a${E}`, "b"]);
    expect(shown(`a${E}[12`)).toEqual(["a"]);
  });
  it("writes over a line as a terminal does", () => {
    expect(shown("10 %\r20 %\r100 %\ndone")).toEqual(["100 %", "done"]);
    expect(shown("longer\rab")).toEqual(["abnger"]);
    expect(shown(`longer\r${E}[Kab`)).toEqual(["ab"]);
    expect(shown(`longer${E}[2K\rab`)).toEqual(["ab    "]);
    expect(shown(`abc\b${E}[1Kd`)).toEqual(["  d"]);
    expect(shown("a\bb\u0007")).toEqual(["b\u0007"]);
    expect(shown("😀\bx")).toEqual(["x"]);
  });
  it("stays quick on five megabytes that are nothing but sequences", () => {
    const t = outputText(`${E}[31m${E}]0;x`.repeat(500_000));
    expect(t.lines.length).toBeLessThan(2001);
  });
});

const numbered = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");
const text = (lines: { text: string }[][]) => lines.map((l) => l.map((p) => p.text).join(""));

describe("the lines of an output", () => {
  it("are two first and three last, until all are wanted", () => {
    const t = outputText(`${numbered(123)}\n\n`);
    const v = outputView(t, false);
    expect([text(v.head), v.hidden, text(v.tail), v.folds]).toEqual([["line 1", "line 2"], 118, ["line 121", "line 122", "line 123"], true]);
    expect(text(outputView(t, true).head)).toHaveLength(123);
  });
  it("are all there where a row for the rest would save nothing", () => {
    const v = outputView(outputText(numbered(8)), false);
    expect([v.head.length, v.hidden, v.folds]).toEqual([8, 0, false]);
  });
  it("are cut where one is very long", () => {
    const v = outputView(outputText(`${E}[31m${"x".repeat(5000)}${E}[0m!`), false);
    expect([text(v.head)[0]?.length, v.folds]).toEqual([601, true]);
  });
  it("are bounded, the first and the last ones", () => {
    const t = outputText(numbered(5000));
    expect([t.lines.length, t.cut]).toEqual([2000, 3000]);
    const v = outputView(t, true);
    expect([v.head.length, v.hidden, text(v.tail).at(-1)]).toEqual([1000, 3000, "line 5000"]);
    expect(outputView(t, false).hidden).toBe(4995);
    const big = outputText(numbered(700_000));
    expect([big.lines.length, big.cut, text(big.lines).at(-1)]).toEqual([2000, 698_000, "line 700000"]);
  });
  it("leave out the exit status, which the row says", () => {
    expect(withoutExit("Exit code 1\nboom")).toBe("boom");
    expect(withoutExit("Error: Exit code 2")).toBe("");
    expect(withoutExit("The Exit code 1\n")).toBe("The Exit code 1\n");
  });
});
