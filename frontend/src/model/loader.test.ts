import { expect, it } from "vitest";
import { AGAIN_MS, loader } from "./loader";

function world(...answers: (string | Error)[]) {
  const pauses: number[] = [];
  let fetched = 0;
  const l = loader(async () => {
    const a = answers[fetched++];
    if (a instanceof Error || a === undefined) throw a ?? new Error("asked too often");
    return a;
  }, async (ms) => void pauses.push(ms));
  return { l, pauses, fetched: () => fetched };
}

it("loads once, whoever asks and how often", async () => {
  const w = world("part");
  expect(w.l.got()).toBeNull();
  expect(await Promise.all([w.l.load(), w.l.load()])).toEqual(["part", "part"]);
  expect(await w.l.load()).toBe("part");
  expect([w.l.got(), w.fetched(), w.pauses.length]).toEqual(["part", 1, 0]);
});

it("tries a second time after a pause", async () => {
  const w = world(new Error("offline"), "part");
  expect(await w.l.load()).toBe("part");
  expect(w.pauses).toEqual([AGAIN_MS]);
});

it("tells of a failure to all who asked, and tries anew for the next", async () => {
  const w = world(new Error("offline"), new Error("still offline"), "part");
  const both = await Promise.allSettled([w.l.load(), w.l.load()]);
  expect(both.map((b) => b.status)).toEqual(["rejected", "rejected"]);
  expect([w.l.got(), w.fetched()]).toEqual([null, 2]);
  expect(await w.l.load()).toBe("part");
  expect(w.l.got()).toBe("part");
});
