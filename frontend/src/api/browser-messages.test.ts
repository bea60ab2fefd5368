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
  it("take nothing from a page but what they know", () => {
    const u = readUpdate(JSON.stringify({
      type: "state",
      state: {
        popup: { id: 4, kind: "select", options: [{ label: "One", chosen: true }, 7], link: "javascript:1" }, cursor: "url(x)", chooser: { multiple: true, accept: "image/*" }, mode: "other",
        downloads: [{ id: "d", name: "a.zip", bytes: 5, total: 10, state: "odd" }], ports: [{ port: 8080, url: "http://localhost:8080/", process: "node" }, { port: 1, url: "javascript:1" }],
        deed: { text: "x", target: { text: { size: 13, color: "#f5c08a", contrast: 9.9 } } },
      },
    }));
    if (u?.type !== "state") throw new Error("no state");
    expect(u.state.popup).toMatchObject({ id: 4, kind: "select", link: "", options: [{ label: "One", chosen: true, disabled: false }, { label: "" }] });
    expect(u.state).toMatchObject({ cursor: "", chooser: { multiple: true, accept: "image/*" }, mode: "docker", downloads: [{ state: "refused" }], ports: [{ port: 8080 }] });
    expect(u.state.deed?.target?.text).toEqual({ size: 13, color: "#f5c08a", contrast: 9.9 });
    const odd = readUpdate(JSON.stringify({ type: "state", state: { popup: { kind: "window" }, deed: { target: { text: { color: "red;x" } } } } }));
    expect(odd).toMatchObject({ state: { popup: null, chooser: null, deed: { target: { text: null } } } });
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
