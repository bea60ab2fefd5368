import { expect, it } from "vitest";
import { AGAIN_MS, loader, moduleOf } from "./loader";

function world(...answers: (string | Error)[]) {
  const pauses: number[] = [];
  let fetched = 0;
  const told: string[] = [];
  const l = loader(async (failed, tries) => {
    told.push(`${tries} ${failed instanceof Error ? failed.message : ""}`.trim());
    const a = answers[fetched++];
    if (a instanceof Error || a === undefined) throw a ?? new Error("asked too often");
    return a;
  }, async (ms) => void pauses.push(ms));
  return { l, pauses, told, fetched: () => fetched };
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
  expect(w.told).toEqual(["0", "1 offline", "2 still offline"]);
});

it("knows which module of the page an error names", () => {
  const page = "http://127.0.0.1:7000";
  const file = "http://127.0.0.1:7000/assets/ReviewPanel-B0.js";
  expect(moduleOf(new TypeError(`Failed to fetch dynamically imported module: ${file}`), page)).toBe(file);
  expect(moduleOf(new TypeError(`Failed to fetch dynamically imported module: ${file}?again=2`), page)).toBe(file);
  expect(moduleOf(new TypeError("Failed to fetch dynamically imported module: wails://wails/assets/a.js"), "wails://wails")).toBe("wails://wails/assets/a.js");
  for (const other of ["Importing a module script failed.", "at http://127.0.0.2:7000/a.js", "at https://127.0.0.1:7000/a.js", "a.js"]) expect(moduleOf(new Error(other), page)).toBe("");
  expect(moduleOf(null, page)).toBe("");
});
