import { describe, expect, it } from "vitest";
import { CastClock, castSize, parseCast } from "./cast";

const text = (events: unknown[], head: unknown = { version: 2, width: 100, height: 30, title: "bash" }) => [head, ...events].map((x) => JSON.stringify(x)).join("\n");

describe("asciicast", () => {
  it("reads header and events", () => {
    const c = parseCast(`${text([[0.5, "o", "a"], [1, "i", "typed"], [2, "r", "90x20"], [3, "x", "y"]])}\n`);
    expect(c).toMatchObject({ cols: 100, rows: 30, title: "bash", cut: false, events: [{ at: 0.5, kind: "o" }, { at: 2, kind: "r" }] });
  });
  it.each([["", null], ["{}", null], ["[]", null], ['{"version":1}', null], ["nonsense", null]])("refuses %j", (t, want) => expect(parseCast(t)).toBe(want));
  it("bears a broken end, time that goes back and sizes beyond reason", () => {
    const c = parseCast(`${text([[5, "o", "a"], [1, "o", "b"]], { version: 2, width: 1e9, height: -3 })}\n[6, "o", "half`);
    expect(c).toMatchObject({ cols: 1000, rows: 24, cut: true, duration: 5 });
    expect(c?.events.map((e) => e.at)).toEqual([5, 5]);
    expect(castSize("80x24")).toEqual({ cols: 80, rows: 24 });
    expect(castSize("9999x9999")).toEqual({ cols: 1000, rows: 500 });
    for (const bad of ["", "80", "80x", "ax1", "1e3x2", "-1x2"]) expect(castSize(bad)).toBeNull();
  });

  it("plays in time, at other speeds, and shortens idle stretches", () => {
    const c = new CastClock(parseCast(text([[1, "o", "a"], [1.5, "o", "b"], [60, "o", "c"]]))!);
    expect(c.advance(5)).toEqual([]);
    c.playing = true;
    expect(c.advance(1.2).map((e) => e.data)).toEqual(["a"]);
    c.speed = 2;
    expect(c.advance(0.2).map((e) => e.data)).toEqual(["b"]);
    expect(c.advance(0.8).map((e) => e.data)).toEqual([]);
    expect(c.advance(0.3).map((e) => e.data)).toEqual(["c"]);
    expect(c.playing).toBe(false);
    expect(c.position).toBe(60);
  });

  it("goes forward by the rest, and backward from the start", () => {
    const c = new CastClock(parseCast(text([[1, "o", "a"], [2, "o", "b"], [3, "o", "c"]]))!);
    expect(c.seek(2.5)).toMatchObject({ anew: false, events: [{ data: "a" }, { data: "b" }] });
    expect(c.seek(9)).toMatchObject({ anew: false, events: [{ data: "c" }] });
    expect(c.seek(1)).toMatchObject({ anew: true, events: [{ data: "a" }] });
    expect(c.position).toBe(1);
    expect(c.seek(-4)).toMatchObject({ anew: true, events: [] });
  });
});
