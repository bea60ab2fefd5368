import { describe, expect, it } from "vitest";
import type { Line } from "./marks";
import { CommandMarks, parseMark, unescape633 } from "./marks";

function shell() {
  const m = new CommandMarks<Line>();
  let cursor = 0;
  const lines: Line[] = [];
  const place = () => {
    const l = { line: cursor, isDisposed: false };
    lines.push(l);
    return l;
  };
  const feed = (data: string, ident: 133 | 633 = 133) => {
    const ev = parseMark(ident, data);
    return ev && m.feed(ev, place);
  };
  const run = (text: string, printed: number, exit: number) => {
    feed("A");
    feed("B");
    feed(`E;${text}`, 633);
    cursor++;
    feed("C");
    cursor += printed;
    feed(`D;${exit}`);
  };
  return { m, feed, run, lines, go: (n: number) => (cursor = n) };
}

describe("marks", () => {
  it.each([
    [133, "A", { kind: "prompt" }],
    [133, "A;cl=m;aid=7", { kind: "prompt" }],
    [133, "D", { kind: "end", exit: null }],
    [133, "D;130;aid=7", { kind: "end", exit: 130 }],
    [133, "D;rm -rf", { kind: "end", exit: null }],
    [633, "E;ls\\x3b pwd\\x0aq\\\\n;nonce", { kind: "line", text: "ls; pwd\nq\\n" }],
    [133, "E;ls", null],
    [633, "P;Cwd=/x", null],
    [133, "", null],
  ] as const)("reads %i;%s", (ident, data, want) => expect(parseMark(ident, data)).toEqual(want));

  it("keeps text, exit and output of each command", () => {
    const s = shell();
    s.run("ls", 3, 0);
    s.run("false", 0, 1);
    s.run("make", 2, 2);
    s.feed("A");
    expect(s.m.all().map((c) => [c.text, c.exit, s.m.outputRange(c, 99)])).toEqual([
      ["ls", 0, { from: 1, to: 4 }], ["false", 1, null], ["make", 2, { from: 6, to: 8 }], ["", null, null],
    ]);
  });

  it("finds the one before, after and at a line", () => {
    const s = shell();
    s.run("a", 3, 0); // prompt 0, ends at 4
    s.run("b", 3, 0); // prompt 4, ends at 8
    s.feed("A"); // 8
    expect(s.m.before(8)?.text).toBe("b");
    expect(s.m.before(4)?.text).toBe("a");
    expect(s.m.before(0)).toBeNull();
    expect(s.m.after(0)?.text).toBe("b");
    expect(s.m.after(8)).toBeNull();
    expect(s.m.at(6)?.text).toBe("b");
    expect(s.m.latest()?.text).toBe("b");
  });

  it("takes a prompt that is drawn again, or reported twice, for one", () => {
    const s = shell();
    s.feed("A");
    s.feed("A", 633);
    expect(s.m.all()).toHaveLength(1);
    expect(s.m.isRunning()).toBe(false);
  });

  it("an output still going reaches to the bottom", () => {
    const s = shell();
    s.feed("A");
    s.go(1);
    s.feed("C");
    const c = s.m.latest();
    expect(s.m.isRunning()).toBe(true);
    expect(c && s.m.outputRange(c, 20)).toEqual({ from: 1, to: 21 });
  });

  it("forgets what left the scrollback, and survives nonsense", () => {
    const s = shell();
    s.run("a", 3, 0);
    s.run("b", 3, 0);
    for (const l of s.lines.slice(0, 3)) l.isDisposed = true;
    expect(s.m.all().map((c) => c.text)).toEqual(["b"]);
    const t = shell();
    for (const d of ["D;0", "C", "B", "D", "C", "A", "D;1", "A", "C", "C", "D;0", "D;0"]) t.feed(d);
    expect(t.m.all().length).toBeLessThanOrEqual(2);
  });

  it("keeps a bounded number", () => {
    const s = shell();
    for (let i = 0; i < 3000; i++) s.run("x", 1, 0);
    expect(s.m.all().length).toBe(2000);
  });

  it("unescapes", () => expect(unescape633("a\\\\x41\\x41\\q")).toBe("a\\x41A\\q"));
});
