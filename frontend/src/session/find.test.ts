import "../test/browser";
import { beforeEach, expect, test, vi } from "vitest";
import { findStore, foundRowStore, noFind } from "../model/find";
import { timelineOf, timelinesStore, viewStore } from "../model/stores";

type Hit = { event_id: number; channel_id: string; type: string; timestamp: number };
const hit = (id: number, channel = "a"): Hit => ({ event_id: id, channel_id: channel, type: "message.created", timestamp: id });
const loop = vi.hoisted(() => ({ find: null as unknown as (q: { words: string }) => Promise<unknown>, reach: null as unknown as (channel: string, event: number) => Promise<boolean> }));
vi.mock("./session", () => ({ session: () => ({ api: { channels: { find: (q: { words: string }) => loop.find(q) } }, reach: (c: string, e: number) => loop.reach(c, e), load: () => Promise.resolve() }) }));
vi.mock("../dock/dock", () => ({ revealTimeline: () => {}, openPanel: () => {} }));
vi.mock("../ui/layer", () => ({ front: { after: (f: () => void) => f() } }));
vi.mock("./trust", () => ({ waitsForTrust: () => Promise.resolve() }));

const { closeFindBar, goToItem, search, step, unwish, whenFound } = await import("./find");
const rows = (...keys: string[]) => {
  const t = timelineOf({}, "");
  return { ...t, phase: "ready" as const, built: { ...t.built, items: keys.map((key) => ({ kind: "text", key, at: Number(key.slice(1)), runId: "", text: key })) } } as typeof t;
};
const settle = () => vi.advanceTimersByTimeAsync(500);
const went = () => foundRowStore.getState().key;

beforeEach(() => {
  vi.useFakeTimers();
  findStore.setState({ ...noFind });
  foundRowStore.setState({ key: "" });
  timelinesStore.setState({ a: rows("e1", "e2", "e3"), b: rows("e7") }, true);
  viewStore.setState({ selected: "a", toast: null });
  loop.find = ({ words }) => Promise.resolve({ found: words === "old" ? [hit(1)] : [hit(3), hit(2)], more: false });
  loop.reach = () => Promise.resolve(true);
});

test("Enter right after a letter goes to a hit of the words as they are", async () => {
  search("old", "a");
  await settle();
  search("new", "a");
  step(1);
  await Promise.resolve();
  expect(went()).toBe(""); // not to a hit of before
  await settle();
  expect([went(), findStore.getState().at]).toEqual(["e3", 0]);
});

test("what was wished for is done once, of the last words, and not once it is given up", async () => {
  const done: string[] = [];
  search("old", "a");
  whenFound(() => done.push("old"));
  search("new", "a");
  await settle();
  search("new again", "a");
  whenFound(() => done.push("new"));
  await settle();
  search("gone", "a");
  whenFound(() => done.push("gone"));
  unwish();
  await settle();
  search("closed", "a");
  whenFound(() => done.push("closed"));
  closeFindBar();
  await settle();
  expect(done).toEqual(["new"]);
});

test("a failed search ends what was wished for with nothing found", async () => {
  search("old", "a");
  await settle();
  loop.find = () => Promise.reject(new Error("no"));
  search("new", "a");
  step(1);
  await settle();
  expect([went(), findStore.getState().phase]).toEqual(["", "error"]);
});

test("who goes to another channel while a far row is loaded stays there", async () => {
  let come: (there: boolean) => void = () => {};
  loop.reach = () => new Promise((r) => { come = r; });
  const on = goToItem("b", 7, (items) => items[0]);
  expect(viewStore.getState().selected).toBe("b");
  viewStore.setState({ selected: "a" });
  come(true);
  await on;
  expect([went(), viewStore.getState().toast]).toEqual(["", null]);
});
