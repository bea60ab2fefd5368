import { describe, expect, it } from "vitest";
import { readFrame, readUpdate } from "./browser-messages";

describe("messages of a browser", () => {
  it("are read field by field, whatever else they hold", () => {
    const u = readUpdate(JSON.stringify({
      type: "state",
      state: { phase: "running", driver: "agent", errors: 2, extra: 1, view: { width: 390, height: "x" }, notices: ["n", 7],
        tabs: [{ target_id: "a", title: "T", url: "http://x/", icon: "https://evil/x.png", active: true }, 5], deed: { text: "clicked", at: 5, ok: true, target: { x: 1, y: 2, width: 3, height: 4 } } },
    }));
    expect(u).toMatchObject({ type: "state", state: { phase: "running", driver: "agent", errors: 2, view: { width: 390, height: 800 }, notices: ["n", ""] } });
    if (u?.type !== "state") throw new Error("no state");
    expect(u.state.tabs[0]).toMatchObject({ target_id: "a", icon: "", active: true });
    expect(u.state.tabs[1]).toMatchObject({ target_id: "" });
    expect(u.state.deed?.target).toMatchObject({ width: 3 });
  });
  it.each(["", "[]", "null", "{", '{"type":"other"}', '{"type":7}'])("%s is none", (raw) => expect(readUpdate(raw)).toBeNull());
  it("bound their lists", () => {
    const u = readUpdate(JSON.stringify({ type: "console", lines: Array.from({ length: 5000 }, (_, seq) => ({ seq })) }));
    expect(u?.type === "console" && u.lines.length).toBe(1000);
  });
});

describe("frames", () => {
  const frame = (...jpeg: number[]) => {
    const b = new Uint8Array(16 + jpeg.length);
    const v = new DataView(b.buffer);
    v.setUint32(0, 7);
    v.setUint32(4, 1);
    v.setFloat64(8, 1234.5);
    b.set(jpeg, 16);
    return b;
  };
  it("have a header and a JPEG", () => expect(readFrame(frame(0xff, 0xd8, 1))).toMatchObject({ id: 7, sharp: true, time: 1234.5 }));
  it.each([new Uint8Array(), new Uint8Array(15), frame(), frame(0xff), frame(0x89, 0x50)])("%s is none", (b) => expect(readFrame(b)).toBeNull());
});
