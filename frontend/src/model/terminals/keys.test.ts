import { describe, expect, it } from "vitest";
import type { Platform } from "../keys/chord";
import { keymapOf } from "../keys/keymap";
import type { KeyAction, KeyLike, KeyState } from "./keys";
import { keyAction as actionOf } from "./keys";

const S: KeyState = { hasSelection: false, tabMoves: false, shiftEnter: true, leaveByF6: true };
const MAPS = { mac: keymapOf("mac", {}), linux: keymapOf("linux", {}), windows: keymapOf("windows", {}) };
const keyAction = (e: KeyLike, p: Platform, s: KeyState) => actionOf(e, MAPS[p], s);
const PLATFORMS: Platform[] = ["mac", "linux", "windows"];
const NAMES: Record<string, string> = { PgUp: "PageUp", PgDn: "PageDown", "↑": "ArrowUp", "↓": "ArrowDown" };

/** The event for "Ctrl+Shift+C" or "⌘⇧D", as a browser reports it on a US keyboard. */
function press(text: string, more: Partial<KeyLike> = {}): KeyLike {
  const e: KeyLike = { type: "keydown", key: "", code: "", keyCode: 0, ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, isComposing: false };
  let rest = text;
  for (;;) {
    const m = /^(Ctrl\+|Shift\+|Alt\+|Cmd\+|⌘|⇧|⌃|⌥)(?=.)/.exec(rest);
    if (!m?.[1]) break;
    if (/Ctrl|⌃/.test(m[1])) e.ctrlKey = true;
    if (/Shift|⇧/.test(m[1])) e.shiftKey = true;
    if (/Alt|⌥/.test(m[1])) e.altKey = true;
    if (/Cmd|⌘/.test(m[1])) e.metaKey = true;
    rest = rest.slice(m[1].length);
  }
  e.key = NAMES[rest] ?? rest;
  if (/^[A-Za-z]$/.test(e.key)) {
    e.code = `Key${e.key.toUpperCase()}`;
    e.key = e.shiftKey ? e.key.toUpperCase() : e.key.toLowerCase();
  }
  if (e.key === "+") e.shiftKey = true; // Shift+= on a US keyboard
  return { ...e, ...more };
}

// The promised keys, written out once more, so that a change of the table alone fails.
const TABLE: [KeyAction, string[], string[], string[]][] = [
  ["copy", ["⌘C"], ["Ctrl+Shift+C", "Ctrl+Insert"], ["Ctrl+Shift+C", "Ctrl+Insert"]],
  ["paste", ["⌘V"], ["Ctrl+Shift+V", "Shift+Insert"], ["Ctrl+Shift+V", "Shift+Insert", "Ctrl+V"]],
  ["find", ["⌘F"], ["Ctrl+Shift+F"], ["Ctrl+Shift+F"]],
  ["split-right", ["⌘D"], ["Ctrl+Shift+D"], ["Ctrl+Shift+D"]],
  ["split-down", ["⌘⇧D"], ["Ctrl+Shift+E"], ["Ctrl+Shift+E"]],
  ["new", ["⌘T"], ["Ctrl+Shift+T"], ["Ctrl+Shift+T"]],
  ["close", ["⌘W"], ["Ctrl+Shift+W"], ["Ctrl+Shift+W"]],
  ["zoom-in", ["⌘+"], ["Ctrl++"], ["Ctrl++"]],
  ["zoom-out", ["⌘-"], ["Ctrl+-"], ["Ctrl+-"]],
  ["zoom-reset", ["⌘0"], ["Ctrl+0"], ["Ctrl+0"]],
  ["clear", ["⌘K"], ["Ctrl+Shift+K"], ["Ctrl+Shift+K"]],
  ["page-up", ["Shift+PgUp"], ["Shift+PgUp"], ["Shift+PgUp"]],
  ["page-down", ["Shift+PgDn"], ["Shift+PgDn"], ["Shift+PgDn"]],
  ["scroll-top", ["⌘Home"], ["Shift+Home"], ["Shift+Home"]],
  ["scroll-bottom", ["⌘End"], ["Shift+End"], ["Shift+End"]],
  ["previous-command", ["⌘↑"], ["Ctrl+Shift+↑"], ["Ctrl+Shift+↑"]],
  ["next-command", ["⌘↓"], ["Ctrl+Shift+↓"], ["Ctrl+Shift+↓"]],
  ["page", ["⌘⇧P"], ["Ctrl+Shift+P"], ["Ctrl+Shift+P"]],
  ["page", ["⌘Q"], ["Ctrl+Shift+Q"], ["Ctrl+Shift+Q"]],
  ["page", ["F6", "Shift+F6"], ["F6", "Shift+F6"], ["F6", "Shift+F6"]],
  ["newline", ["Shift+Enter"], ["Shift+Enter"], ["Shift+Enter"]],
  ["tab-moves", ["Ctrl+Shift+M"], ["Ctrl+Shift+M"], ["Ctrl+Shift+M"]],
];
it.each(TABLE)("%s as the table of the peers has it", (action, mac, linux, windows) => {
  for (const k of mac) expect(keyAction(press(k), "mac", S), k).toBe(action);
  for (const k of linux) expect(keyAction(press(k), "linux", S), k).toBe(action);
  for (const more of [{ type: "keyup" }, { isComposing: true }, { keyCode: 229 }]) expect(keyAction(press(linux[0] ?? "", more), "linux", S)).toBe("pass");
  for (const k of windows) expect(keyAction(press(k), "windows", S), k).toBe(action);
});

describe.each(PLATFORMS)("never taken on %s", (p) => {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  it.each(letters)("Ctrl+%s and Alt+ it", (l) => {
    for (const hasSelection of p === "windows" ? [false] : [false, true]) {
      if (!(p === "windows" && l === "v")) expect(keyAction(press(`Ctrl+${l}`), p, { ...S, hasSelection })).toBe("pass");
      expect(keyAction(press(`Alt+${l}`), p, { ...S, hasSelection })).toBe("pass");
      expect(keyAction(press(`Ctrl+Alt+${l}`), p, S)).toBe("pass");
      expect(keyAction(press(`Alt+Shift+${l}`), p, S)).toBe("pass");
    }
  });
  it.each(["Escape", "Tab", "Shift+Tab", "Enter", "Backspace", "Delete", "Home", "End", "PgUp", "PgDn", "↑", "↓", "Ctrl+↑", "Ctrl+\\", "Ctrl+]", "Ctrl+_", "Ctrl+ ", "Ctrl+@", "Ctrl+/", "Alt+Enter", "Ctrl+Enter", "a", "A", "é", "F1", "F2", "F3", "F4", "F5", "F7", "F8", "F9", "F10", "F11", "F12", "Ctrl+F6", "Alt+F6", "Shift+F10", "Ctrl+PgUp", "Ctrl+PgDn", "Ctrl+Tab"])("%s", (k) => {
    expect(keyAction(press(k), p, { ...S, hasSelection: true })).toBe("pass");
  });
  it("Ctrl+Shift+minus, which is Ctrl+_", () => {
    expect(keyAction(press("Ctrl+_", { shiftKey: true, code: "Minus" }), p, S)).toBe("pass");
    expect(keyAction(press("Ctrl+)", { shiftKey: true, code: "Digit0" }), p, S)).toBe("pass");
  });
});

it("the Command key belongs to us on a Mac only", () => {
  for (const l of "cvfdtwk") expect(keyAction(press(`Cmd+${l}`), "linux", S)).toBe("pass");
  for (const l of "cvfdetwkp") expect(keyAction(press(`Ctrl+Shift+${l}`), "mac", S)).toBe("pass");
});

it("Ctrl+C on Windows copies only what is selected", () => {
  expect(keyAction(press("Ctrl+C"), "windows", S)).toBe("pass");
  expect(keyAction(press("Ctrl+C"), "windows", { ...S, hasSelection: true })).toBe("copy-and-clear");
  expect(keyAction(press("Ctrl+C"), "linux", { ...S, hasSelection: true })).toBe("pass");
});

it("Shift+Enter and F6 can be given to the program", () => {
  expect(keyAction(press("Shift+Enter"), "linux", { ...S, shiftEnter: false })).toBe("pass");
  expect(keyAction(press("F6"), "linux", { ...S, leaveByF6: false })).toBe("pass");
  expect(keyAction(press("Shift+F6"), "mac", { ...S, leaveByF6: false })).toBe("pass");
});

it("Tab moves the focus once asked to", () => {
  const s = { ...S, tabMoves: true };
  expect(keyAction(press("Tab"), "linux", s)).toBe("browser");
  expect(keyAction(press("Shift+Tab"), "linux", s)).toBe("browser");
  expect(keyAction(press("Ctrl+Tab"), "linux", s)).toBe("pass");
});

it("a Cyrillic layout has the same places, a Dvorak one the same letters", () => {
  expect(keyAction(press("Ctrl+Shift+С", { code: "KeyC" }), "linux", S)).toBe("copy");
  expect(keyAction(press("⌘м", { code: "KeyV" }), "mac", S)).toBe("paste");
  expect(keyAction(press("Ctrl+Shift+J", { code: "KeyC" }), "linux", S)).toBe("pass");
  expect(keyAction(press("Ctrl+Shift+C", { code: "KeyI" }), "linux", S)).toBe("copy");
});

describe("keys of the person's own", () => {
  const map = keymapOf("linux", { "terminal.find": ["Ctrl+Shift+G"], "page.palette": ["Ctrl+Shift+J", "Ctrl+J"], "panes.new": ["Ctrl+Shift+Y", "Alt+Y"], "page.next-region": ["F9"], "terminal.newline": ["Ctrl+Shift+Enter"], "terminal.clear": [] });
  it("take the place of the pane's, of the layout's and of the page's", () => {
    const means = (k: string) => actionOf(press(k), map, S);
    expect(["Ctrl+Shift+G", "Ctrl+Shift+J", "Ctrl+Shift+Y", "F9", "Ctrl+Shift+Enter"].map(means)).toEqual(["find", "page", "new", "page", "newline"]);
    expect(["Ctrl+Shift+P", "Ctrl+Shift+T", "F6", "Shift+Enter", "Ctrl+Shift+K"].map(means)).toEqual(["pass", "pass", "pass", "pass", "pass"]);
    expect(means("Ctrl+Shift+F"), "what the page means by it").toBe("page");
  });
  it("leave to programs what they need", () => {
    for (const k of ["Ctrl+J", "Alt+Y"]) expect(actionOf(press(k), map, S)).toBe("pass");
  });
});
