// Tests the marks in a snapshot, as the session writes them (backend/terminal/vt/marks.go).
import { createRequire } from "node:module";
import type { Terminal } from "@xterm/xterm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ShellMarks } from "./commands";

const require = createRequire(import.meta.url);
const { Terminal: Headless } = require("@xterm/headless") as { Terminal: new (o: object) => Terminal };
const write = (t: Terminal, s: string) => new Promise<void>((r) => t.write(s, r));

beforeEach(() => {
  vi.stubGlobal("document", { documentElement: {} });
  vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => "#000" }));
});

describe("a snapshot", () => {
  it("brings the commands back", async () => {
    const t = new Headless({ cols: 20, rows: 5, allowProposedApi: true, logLevel: "off" });
    t.registerDecoration = () => undefined;
    const marks = new ShellMarks(t, { onPrompt() {}, onRun() {}, onDir() {} });
    const A = "\u001b]133;A\u001b\\";
    const C = "\u001b]633;E;make x\\x3b y\u001b\\\u001b]133;C\u001b\\";
    await write(t, `\u0018\u001bc\u001b[?2026h${A}$ make\r\n${C}one\r\ntwo\r\n\u001b]133;D;2\u001b\\${A}$ \r\n\u001b]133;D\u001b\\${A}$ sleep\r\n${C}\u001b[?2026l`);
    expect(marks.marks.all().map((c) => [c.prompt.line, c.output?.line, c.end?.line, c.exit, c.text])).toEqual([
      [0, 1, 3, 2, "make x; y"], [3, undefined, undefined, null, ""], [4, 5, undefined, null, "make x; y"],
    ]);
    expect(marks.marks.isRunning()).toBe(true);
    await write(t, "more\r\n\u001b]133;D;0\u001b\\");
    expect(marks.marks.latest()).toMatchObject({ exit: 0 });
    expect(marks.output()?.text).toBe("more");
  });
});
