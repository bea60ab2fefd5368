import { expect, it } from "vitest";
import { fileOpened, openedStore, recentFiles } from "./recents";
import { emptyBuilt, newRun } from "./timeline/items";

const change = (path: string) => ({ path, added: 1, removed: 0, useId: "t" });
const prompt = (text: string) => ({ kind: "prompt" as const, key: text, at: 1, runId: "r", text, author: "" });

it("files of the last run come first, then those that were opened, then those of earlier prompts", () => {
  const runs = { a: { ...newRun("a", 1), files: [change("/p/old.go")] }, b: { ...newRun("b", 2), files: [change("/p/new.go"), change("/etc/x"), change("/p/sub/y.go")] }, c: newRun("c", 3) };
  const opened = [{ path: "/p/docs/a.md", at: 0 }, { path: "/p/new.go", at: 0 }, { path: "/elsewhere", at: 0 }];
  const items = [prompt("first @one.go"), prompt("then @two.go and @new.go")];
  expect(recentFiles({ ...emptyBuilt, runs, items }, opened, "/p", 6 * 60_000)).toEqual([
    { path: "new.go", why: "changed by the last run" }, { path: "sub/y.go", why: "changed by the last run" }, { path: "docs/a.md", why: "you opened it 6 min ago" },
    { path: "two.go", why: "named in an earlier prompt" }, { path: "one.go", why: "named in an earlier prompt" },
  ]);
});

it("the files opened in this visit are the newest thirty", () => {
  for (let i = 0; i < 40; i++) fileOpened("a", `/p/${i % 35}`, i);
  const list = openedStore.getState()["a"] ?? [];
  expect([list.length, list[0], new Set(list.map((o) => o.path)).size]).toEqual([30, { path: "/p/4", at: 39 }, 30]);
});
