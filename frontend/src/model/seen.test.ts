import { describe, expect, it } from "vitest";
import { isUnseen, looked, seenFrom, unseenOf } from "./seen";

const channel = (id: string, state: "done" | "failed" | "working", last: number) => ({ channel_id: id, state, last_event_id: last }) as const;

describe("what nobody has looked at yet", () => {
  const all = [channel("a", "done", 9), channel("b", "failed", 5), channel("c", "working", 7)];
  it("is no news on the first visit", () => {
    expect([...unseenOf(all, null)]).toEqual([]);
    expect(looked(all, null, "a")).toEqual({ a: 9, b: 5 });
  });
  it("is what ended since, and goes by a look at that channel alone", () => {
    const seen = { a: 9, b: 4 };
    expect([...unseenOf(all, seen)]).toEqual(["b"]);
    expect(isUnseen(channel("new", "done", 1), seen)).toBe(true);
    expect(isUnseen(channel("b", "working", 6), seen)).toBe(false);
    expect(looked(all, seen, "a")).toBe(seen);
    expect(looked(all, seen, "c")).toBe(seen);
    expect(looked(all, { ...seen, gone: 3 }, "b")).toEqual({ a: 9, b: 5 });
  });
  it("reads what was kept, and nothing else", () => {
    expect([seenFrom(""), seenFrom("x"), seenFrom("[1]"), seenFrom("null"), seenFrom('{"a":1,"b":"x","c":1.5}')]).toEqual([null, null, null, null, { a: 1 }]);
  });
});
