import { describe, expect, it } from "vitest";
import { firstView } from "../../api/browser-messages";
import { keymapOf } from "../keys/keymap";
import type { Keystroke } from "./keystroke";
import { keyInput, meansOf as meansIn, modifiersOf } from "./keystroke";
import { addressParts, percentOf, placed, pointOf, viewOf, viewportOf, zoomStep } from "./place";

const maps = { mac: keymapOf("mac", {}), linux: keymapOf("linux", {}) };
const meansOf = (e: Keystroke, mac: boolean) => meansIn(e, mac ? maps.mac : maps.linux);

describe("the place of a page", () => {
  it("fits the pane, and has no more pixels than two for one", () => {
    expect(viewOf("fit", { width: 672.4, height: 502.2 }, 3, firstView)).toMatchObject({ width: 672, height: 502, scale: 2, mobile: false });
    expect(viewOf("fit", { width: 10, height: 10 }, 1, firstView)).toMatchObject({ width: 160, height: 160 });
    expect(viewOf("phone", { width: 672, height: 502 }, 1, { ...firstView, dark: true })).toMatchObject({ width: 390, height: 844, mobile: true, dark: true });
  });
  it("is never larger than it is, and stays in the middle", () => {
    expect(placed({ width: 390, height: 844 }, { width: 800, height: 422 })).toEqual({ x: 302.5, y: 0, width: 195, height: 422 });
    expect(placed({ width: 400, height: 300 }, { width: 800, height: 600 })).toEqual({ x: 200, y: 0, width: 400, height: 300 });
  });
  it("has room around a device, and none where there is none to spare", () => {
    expect(placed({ width: 390, height: 664 }, { width: 672, height: 656 }, true)).toMatchObject({ y: 12, height: 632 });
    expect(placed({ width: 390, height: 664 }, { width: 60, height: 60 }, true)).toMatchObject({ y: 0, height: 60 });
    expect(percentOf(placed({ width: 390, height: 664 }, { width: 672, height: 656 }, true), { width: 390 })).toBe(95);
  });
  it("has fewer CSS pixels when it is zoomed", () => {
    expect(viewportOf({ width: 800, height: 601, zoom: 2 })).toEqual({ width: 400, height: 301 });
    expect(viewportOf({ width: 800, height: 600, zoom: 0 })).toEqual({ width: 800, height: 600 });
    expect([zoomStep(1, 1), zoomStep(1, -1), zoomStep(3, 1), zoomStep(0.5, -1), zoomStep(1.3, 1)]).toEqual([1.1, 0.9, 3, 0.5, 1.5]);
  });
  it.each([1, 1.5, 2])("maps points back at %s", (by) => {
    const view = { width: 400, height: 300 };
    const box = { x: 50, y: 10, width: 400 / by, height: 300 / by };
    for (let i = 0; i < 100; i++) {
      const p = { x: i * 4 + 2, y: i * 3 + 1.5 };
      const got = pointOf({ x: box.x + p.x / by, y: box.y + p.y / by }, box, view, false);
      expect(got?.x).toBeCloseTo(p.x, 6);
      expect(got?.y).toBeCloseTo(p.y, 6);
    }
    expect(pointOf({ x: 49, y: 20 }, box, view, false)).toBeNull();
    expect(pointOf({ x: 9999, y: 20 }, box, view, true)?.x).toBe(399);
  });
  it.each([
    ["http://localhost:3000/login?a=1", { chip: "preview", host: "localhost:3000", rest: "/login?a=1" }],
    ["http://[::1]:80/", { chip: "preview", host: "[::1]:80", rest: "" }],
    ["http://preview.api:8080/x", { chip: "preview", host: "preview.api:8080", rest: "/x" }],
    ["https://user:pw@example.com/", { chip: "", host: "example.com", rest: "" }],
    ["about:blank", { chip: "", host: "", rest: "" }],
    ["chrome://crash/", { chip: "", host: "chrome:crash", rest: "" }],
    ["nonsense", { chip: "", host: "nonsense", rest: "" }],
  ])("shows the address %s", (url, parts) => expect(addressParts(url)).toEqual(parts));
});

const key = (k: string, on: Partial<Record<"altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "altGraph", boolean>> = {}) => ({
  key: k, code: "KeyX", keyCode: 88, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, altGraph: false, ...on,
});

describe("keys", () => {
  it("write characters unless a modifier makes a command of them", () => {
    expect(keyInput(key("é"), true, false)).toMatchObject({ kind: "keydown", text: "é", modifiers: 0 });
    expect(keyInput(key("@", { ctrlKey: true, altKey: true, altGraph: true }), true, false)).toMatchObject({ text: "@", modifiers: 0 });
    expect(keyInput(key("a", { ctrlKey: true }), true, false)).not.toHaveProperty("text");
    expect(keyInput(key("a", { metaKey: true }), true, true)).toMatchObject({ modifiers: 2 });
    expect(keyInput(key("Enter"), true, false)).toMatchObject({ text: "\r" });
    expect(keyInput(key("x"), false, false)).toEqual({ kind: "keyup", key: "x", code: "KeyX", key_code: 88, modifiers: 0 });
    expect(modifiersOf(key("x", { altKey: true, shiftKey: true }), false)).toBe(9);
  });
  it("keep the app's own for the app", () => {
    expect(meansOf(key("F6"), false)).toBe("app");
    expect(meansOf(key("P", { ctrlKey: true, shiftKey: true }), false)).toBe("app");
    expect(meansOf(key("G", { ctrlKey: true, shiftKey: true }), false)).toBe("baton");
    expect(meansOf(key("c", { ctrlKey: true }), false)).toBe("copy");
    expect(meansOf(key("c", { ctrlKey: true }), true)).toBe("none");
    expect(meansOf(key("v", { metaKey: true }), true)).toBe("paste");
    expect(meansOf(key("l", { ctrlKey: true }), false)).toBe("none");
    expect(["F5", "r", "+", "-", "0"].map((k) => meansOf(key(k, { ctrlKey: k !== "F5", shiftKey: k === "+" }), false))).toEqual(["reload", "reload", "larger", "smaller", "as-is"]);
    expect([meansOf(key("ArrowLeft", { altKey: true }), false), meansOf(key("ArrowLeft", { altKey: true }), true), meansOf(key("[", { metaKey: true }), true)]).toEqual(["back", "none", "back"]);
    expect(meansOf(key("[", { ctrlKey: true, altKey: true, altGraph: true }), false)).toBe("none");
    expect([meansOf(key("s", { metaKey: true, shiftKey: true }), true), meansOf(key("s", { ctrlKey: true }), false)]).toEqual(["pick", "none"]);
  });
});
