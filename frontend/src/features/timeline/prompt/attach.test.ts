import "../../../test/browser";
import { beforeEach, expect, test, vi } from "vitest";
import { picturesStore } from "../../../model/pictures";

const loop = vi.hoisted(() => ({ attachFile: null as unknown as (channel: string, path: string) => Promise<unknown>, gone: [] as string[] }));
vi.mock("../../../session/session", () => ({
  session: () => ({ api: { files: { attachFile: (c: string, p: string) => loop.attachFile(c, p), detach: (_: string, id: string) => { loop.gone.push(id); return Promise.resolve(); } } } }),
}));

const { attach, attaching, giveUp } = await import("./attach");
const { picturesOf } = await import("../../../session/pictures");
const picture = (id: string) => ({ id, name: id, type: "image/png", bytes: 1, width: 1, height: 1 });
const ids = () => picturesOf(picturesStore.getState(), "a").map((p) => p.id);
const settle = () => new Promise((r) => setTimeout(r, 0));

beforeEach(() => {
  picturesStore.setState({ a: [] });
  loop.gone = [];
});

test("a picture goes into the draft once Loop has it", async () => {
  loop.attachFile = (_, path) => Promise.resolve(picture(path));
  attach("a", [{ path: "/one.png" }, { path: "/two.png" }]);
  await settle();
  expect([ids(), attaching("a"), loop.gone]).toEqual([["/one.png", "/two.png"], false, []]);
});

test("a picture that was given up on its way comes into no draft, and Loop is told", async () => {
  let come: (p: unknown) => void = () => {};
  loop.attachFile = () => new Promise((r) => { come = r; });
  attach("a", [{ path: "/late.png" }, { path: "/never.png" }]);
  giveUp("a");
  come(picture("/late.png"));
  await settle();
  expect([ids(), attaching("a"), loop.gone]).toEqual([[], false, ["/late.png"]]);
});
