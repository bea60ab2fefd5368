import { beforeEach, describe, expect, it, vi } from "vitest";
import { kept, storage } from "../test/browser";

/** Opens a new page. The browser's storage stays as earlier pages left it. */
async function visit() {
  vi.resetModules();
  return import("./memory");
}
/** A mock of Loop that keeps choices. */
function keeper(memory: Record<string, string>) {
  return { memory: async () => ({ ...memory }), keep: vi.fn(async (name: string, value: string) => void (memory[name] = value)) };
}
const settle = () => new Promise((r) => setTimeout(r));

beforeEach(() => {
  kept.clear();
  storage.broken = false;
});

describe("what the browser keeps", () => {
  it("is there at the next visit, and gone when it is empty", async () => {
    const m = await visit();
    m.saveChoice("draft.a", "half a thought");
    expect((await visit()).loadChoice("draft.a")).toBe("half a thought");
    m.saveChoice("draft.a", "");
    expect([...kept.keys()]).not.toContain("loop.draft.a");
  });
  it("may be nothing: the page works without memory", async () => {
    storage.broken = true;
    const m = await visit();
    m.saveChoice("draft.a", "x");
    expect(m.loadChoice("draft.a")).toBe("");
  });
});

describe("what Loop keeps", () => {
  it("stands over what this browser has, and is told to those who wait for it", async () => {
    kept.set("loop.terminal.zoom", "1");
    const m = await visit();
    const heard = vi.fn();
    m.recallListeners.add(heard);
    await m.recall(keeper({ "terminal.zoom": "3", "dock.c0ffee": "layout" }));
    expect([m.loadChoice("terminal.zoom"), m.loadChoice("dock.c0ffee")]).toEqual(["3", "layout"]);
    expect(kept.get("loop.terminal.zoom")).toBe("3");
    expect(heard).toHaveBeenCalledOnce();
  });
  it("forgets here what was taken away there", async () => {
    kept.set("loop.contrast", "more");
    const m = await visit();
    await m.recall(keeper({ "terminal.zoom": "1" }));
    expect(m.loadChoice("contrast")).toBe("");
  });
  it("begins with what the browser knows, where it knows nothing", async () => {
    kept.set("loop.terminal.zoom", "2");
    const m = await visit();
    const loop = keeper({});
    await m.recall(loop);
    await settle();
    expect(loop.keep).toHaveBeenCalledWith("terminal.zoom", "2");
  });
  it("is told of each change, the last one of each name, and of nothing twice", async () => {
    const m = await visit();
    const loop = keeper({ contrast: "" });
    await m.recall(loop);
    m.saveChoice("terminal.zoom", "1");
    m.saveChoice("terminal.zoom", "2");
    m.saveChoice("terminal.zoom", "2");
    await settle();
    expect(loop.keep.mock.calls.at(-1)).toEqual(["terminal.zoom", "2"]);
    expect(loop.keep.mock.calls.length).toBeLessThanOrEqual(2);
  });
  it("is told by the next visit what it could not take", async () => {
    const m = await visit();
    const full = keeper({ "terminal.zoom": "1" });
    full.keep.mockRejectedValue(new Error("The disk is full."));
    await m.recall(full);
    m.saveChoice("terminal.zoom", "2");
    await settle();
    expect(m.loadChoice("terminal.zoom")).toBe("2");
    const next = await visit();
    const loop = keeper({ "terminal.zoom": "1" });
    await next.recall(loop);
    await settle();
    expect(next.loadChoice("terminal.zoom")).toBe("2");
    expect(loop.keep).toHaveBeenCalledWith("terminal.zoom", "2");
  });
  it("never has drafts, nor the channel that this window shows", async () => {
    kept.set("loop.selected", "mine");
    const m = await visit();
    const loop = keeper({ selected: "theirs" });
    await m.recall(loop);
    m.saveChoice("draft.a", "secret");
    await settle();
    expect(m.loadChoice("selected")).toBe("mine");
    expect(loop.keep.mock.calls.map((c) => c[0])).not.toContain("draft.a");
  });
  it("does not answer: what the browser has will do", async () => {
    kept.set("loop.terminal.zoom", "1");
    const m = await visit();
    await m.recall({ memory: () => Promise.reject(new Error("offline")), keep: async () => null });
    expect(m.loadChoice("terminal.zoom")).toBe("1");
  });
});
