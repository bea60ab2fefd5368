// Tests the parts of the pinned xterm.js that the page relies on. The tests use its headless
// build, which has the same parser and the same inner parts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Terminal } from "@xterm/xterm";
import { describe, expect, it } from "vitest";
import { isFocusReport, isReport, swallowQueries } from "./answers";
import { reportsFocus, reportsMouse, stopReports } from "./core";
import { imeEngine } from "./ime";
import { recoverAtEnd, recoverAtPrompt } from "./recovery";
import { isChromium } from "./renderer";

const require = createRequire(import.meta.url);
const { Terminal: Headless } = require("@xterm/headless") as { Terminal: new (o: object) => Terminal };

const make = () => new Headless({ cols: 80, rows: 24, allowProposedApi: true });
const write = (t: Terminal, s: string) => new Promise<void>((r) => t.write(s, r));

const ANSWERED = ["\u001b[c", "\u001b[>c", "\u001b[5n", "\u001b[6n", "\u001b[?6n", "\u001b[?2026$p", "\u001b[4$p", "\u001bP$qm\u001b\\", "\u001bP$q q\u001b\\"];

describe("answers", () => {
  it.each(ANSWERED)("xterm.js answers %j by itself, and not with our handlers", async (q) => {
    for (const guarded of [false, true]) {
      const t = make();
      let said = "";
      t.onData((d) => (said += d));
      if (guarded) swallowQueries(t);
      await write(t, q);
      expect(said !== "", guarded ? "guarded" : "control").toBe(!guarded);
    }
  });

  it("colours can still be set", async () => {
    const t = make();
    swallowQueries(t);
    const seen: unknown[] = [];
    (t as unknown as { _core: { _inputHandler: { onColor(f: (e: unknown) => void): void } } })._core._inputHandler.onColor((e) => seen.push(e)); // eslint-disable-line no-underscore-dangle -- theirs
    await write(t, "\u001b]11;#123456\u0007\u001b]11;?\u0007\u001b]4;1;#ff0000\u0007\u001b]4;1;?\u0007");
    expect(seen).toHaveLength(2);
  });

  it("tells reports from typing", () => {
    expect(["\u001b[I", "\u001b[O"].every(isFocusReport)).toBe(true);
    expect(isFocusReport("\u001b[OP")).toBe(false);
    expect(["\u001b[I", "\u001b[<0;1;1M", "\u001b[M !!"].every(isReport)).toBe(true);
    expect(["a", "\u001b[A", "\u001b[200~x"].some(isReport)).toBe(false);
  });
});

describe("recovery", () => {
  const leak = "\u001b[?1003h\u001b[?1006h\u001b[?1004h\u001b[?2004h\u001b[?1h";
  it("ends reports at a prompt, at once, and leaves the shell's own modes", async () => {
    const t = make();
    t.parser.registerOscHandler(133, () => recoverAtPrompt(t));
    await write(t, `${leak}\u001b]133;A\u0007`);
    expect([reportsMouse(t), reportsFocus(t), t.modes.mouseTrackingMode, t.modes.bracketedPasteMode]).toEqual([false, false, "none", true]);
    // A program that starts in the same write keeps its reports.
    await write(t, `${leak}\u001b]133;A\u0007\u001b]133;C\u0007\u001b[?1002h\u001b[?1004h`);
    expect([t.modes.mouseTrackingMode, reportsFocus(t)]).toEqual(["drag", true]);
  });
  it("ends everything with the session", async () => {
    const t = make();
    await write(t, leak);
    recoverAtEnd(t);
    await write(t, "");
    expect([t.modes.mouseTrackingMode, t.modes.sendFocusMode, t.modes.bracketedPasteMode, t.modes.applicationCursorKeysMode]).toEqual(["none", false, false, false]);
  });
  it("has the inner parts it uses", () => {
    const t = make();
    stopReports(t);
    expect(reportsMouse(t)).toBe(false);
  });
});

describe("browsers", () => {
  const apple = "Mozilla/5.0 (%s) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  it.each([
    ["WebKitGTK", `${apple.replace("%s", "X11; Linux x86_64")} Version/18.0 Safari/605.1.15`, "webkitgtk", false],
    ["the window on Linux", apple.replace("%s", "X11; Linux x86_64"), "webkitgtk", false],
    ["WKWebView", apple.replace("%s", "Macintosh; Intel Mac OS X 10_15_7"), "wkwebview", false],
    ["Chromium", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36", null, true],
    ["WebView2", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0", null, true],
    ["Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", null, false],
  ])("%s: whose compositions, which renderer", (_, ua, ime, webgl) => {
    expect([imeEngine(ua), isChromium(ua)]).toEqual([ime, webgl]);
  });
});

// The contrast of two colours, as WCAG defines it.
function contrast(a: string, b: string): number {
  const lum = (hex: string) => {
    const h = hex.length === 4 ? hex.slice(1).replace(/./g, "$&$&") : hex.slice(1);
    const [r, g, bl] = [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p) as [number, number];
  return (x + 0.05) / (y + 0.05);
}

describe("themes", () => {
  const css = readFileSync(new URL("../../styles/tokens.css", import.meta.url), "utf8");
  const block = (selector: string) => Object.fromEntries([...(css.split(`${selector} {`)[1]?.split("}")[0] ?? "").matchAll(/(--[\w-]+):\s*(#[0-9a-f]+)/g)].map((m) => [m[1] ?? "", m[2] ?? ""]));
  const dark = block('[data-theme="dark"]');
  const light = block('[data-theme="light"]');
  const themes: [string, Record<string, string>, number][] = [
    ["dark", dark, 4.5], ["light", light, 4.5],
    ["dark, more contrast", { ...dark, ...block('[data-theme="dark"][data-contrast="more"]') }, 7],
    ["light, more contrast", { ...light, ...block('[data-theme="light"][data-contrast="more"]') }, 7],
  ];
  it.each(themes)("%s: all colours can be read", (name, t, least) => {
    const bg = t["--term-bg"] ?? "";
    expect(contrast(t["--term-fg"] ?? "", bg)).toBeGreaterThanOrEqual(7);
    for (let i = 0; i < 16; i++) {
      if (i === 0 && name.startsWith("dark")) continue; // black on dark: the terminal lifts it (minimumContrastRatio)
      expect(contrast(t[`--ansi-${i}`] ?? "", bg), `${name} ansi ${i} ${t[`--ansi-${i}`]}`).toBeGreaterThanOrEqual(least);
    }
    for (const on of ["--term-select", "--term-found", "--term-found-here"]) expect(contrast(t["--term-fg"] ?? "", t[on] ?? ""), `${name} ${on}`).toBeGreaterThanOrEqual(4.5);
  });
});
