import { describe, expect, it } from "vitest";
import { DrawingPace, FLOOD_BYTES, HOLD_MS, KEYED_MS } from "./pace";

const FRAME = 16;

/** A pane that got so many bytes between two drawings, the second of which was at 1000. */
function after(bytes: number, ms = FRAME): DrawingPace {
  const p = new DrawingPace();
  p.drawn(1000 - ms);
  p.wrote(bytes);
  p.drawn(1000);
  return p;
}

describe("drawing", () => {
  it("waits in a flood until the time since the last drawing is over", () => {
    const p = after(FLOOD_BYTES * FRAME);
    expect([1000, 1010, 1000 + HOLD_MS, 2000].map((t) => p.wait(t))).toEqual([HOLD_MS, HOLD_MS - 10, 0, 0]);
  });

  it("waits for nothing at any other time", () => {
    expect(new DrawingPace().wait(0)).toBe(0);
    expect(after(FLOOD_BYTES * FRAME - 1).wait(1000)).toBe(0);
    // A short burst just after a drawing is no flood, and neither is a lot in a long time.
    expect(after(FLOOD_BYTES * 2, 1).wait(1000)).toBe(0);
    expect(after(FLOOD_BYTES * 900, 1000).wait(1000)).toBe(0);
  });

  it("waits for nothing once the flood is over", () => {
    const p = after(FLOOD_BYTES * FRAME);
    p.wrote(100);
    p.drawn(1000 + HOLD_MS);
    expect(p.wait(1000 + HOLD_MS)).toBe(0);
  });

  it("waits for nothing just after a key", () => {
    const p = after(FLOOD_BYTES * FRAME);
    p.keyed(1000);
    expect(p.wait(1001)).toBe(0);
    p.wrote(FLOOD_BYTES * KEYED_MS);
    p.drawn(1000 + KEYED_MS);
    expect(p.wait(1000 + KEYED_MS)).toBe(HOLD_MS);
  });
});
