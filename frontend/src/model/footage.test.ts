import { expect, it } from "vitest";
import type { KeptFrame } from "../api/types";
import { cropOf, footageOf, frameWords, shortAddress, targetPlace, unjoined } from "./footage";

const frame = (more: Partial<KeptFrame> = {}): KeptFrame => ({ frame_id: 1, run_id: "r", kind: "act", time: 0, driver: "agent", view_width: 800, view_height: 600, width: 800, height: 600, ...more });
const target = (x: number, y: number, width: number, height: number) => frame({ target: { x, y, width, height } });

it("places a target by the page's own pixels, and not what is out of sight", () => {
  expect(targetPlace(target(400, 300, 80, 60))).toEqual({ x: 0.5, y: 0.5, width: 0.1, height: 0.1 });
  expect(targetPlace(target(-40, 570, 80, 60))).toEqual({ x: 0, y: 0.95, width: 0.05, height: 0.05 });
  for (const f of [frame(), target(0, 0, 0, 0), target(900, 0, 10, 10), target(NaN, 0, 10, 10), { ...target(1, 1, 1, 1), view_width: 0 }]) expect(targetPlace(f)).toBeNull();
});

it("crops a thumbnail round the target, inside of the page, in its shape", () => {
  const shape = 12 / 7;
  for (const f of [target(400, 300, 80, 30), target(0, 0, 10, 10), target(790, 590, 10, 10), target(0, 100, 800, 500), frame()]) {
    const c = cropOf(f, shape);
    expect((c.width * 800) / (c.height * 600)).toBeCloseTo(shape);
    for (const v of [c.x, c.y, 1.0001 - c.x - c.width, 1.0001 - c.y - c.height]) expect(v).toBeGreaterThanOrEqual(0);
  }
  const near = cropOf(target(400, 300, 80, 30), shape);
  expect(near.x + near.width / 2).toBeCloseTo(0.55);
  expect(near.width * 800).toBe(340);
  expect(cropOf(frame(), shape)).toMatchObject({ x: 0, y: 0, width: 1 });
  expect(cropOf(frame({ view_width: 390, view_height: 200 }), shape).height).toBeCloseTo(1);
});

it("finds the frame of a call, and knows when one may still come", () => {
  const f = footageOf([frame({ tool_use_id: "a" }), frame({ kind: "page" })]);
  expect(f.calls.a?.frame_id).toBe(1);
  expect(unjoined(f)).toBe(false);
  expect(unjoined(footageOf([frame()]))).toBe(true);
});

it("says what happened", () => {
  expect(frameWords(frame({ deed: "clicked “Continue”", failed: true }))).toBe("Claude clicked “Continue”, which failed");
  expect(frameWords(frame({ kind: "take" }))).toBe("You took over");
  expect(shortAddress("http://localhost:8080/")).toBe("localhost:8080");
});
