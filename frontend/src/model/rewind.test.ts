import { expect, it } from "vitest";
import type { LoopEvent, Rewind, RewindPreview } from "../api/types";
import { backWords, fill, keptOf, lastPrompt, leavesWords, leavingRows, placeOf, possible, undoable, wentWords, withoutLeft } from "./rewind";
import { fold } from "./timeline/build";
import type { Item, RewoundItem } from "./timeline/items";
import { emptyBuilt } from "./timeline/items";

let id = 0;
const ev = (type: string, run: string, data: unknown) => ({ seq: 0, id: ++id, type, channel_id: "c", run_id: run, timestamp: id * 1000, data }) as LoopEvent;
const run = (r: string) => [
  ev("message.created", r, { msg_id: r, content: `Prompt ${r}`, is_bot: false }), ev("agent.status", r, { status: "running", state: "starting", step: "image" }),
  ev("message.created", r, { msg_id: `a${r}`, content: "Answer", is_bot: true }), ev("agent.status", r, { status: "completed", state: "done" }),
];
const went = (name: string, to: string, more: Partial<Rewind> = {}, type = "rewind.went") =>
  ev(type, to, { id: name, run_id: to, prompt: "p", prompt_ms: 1, what: "both", state: "done", files: 2, leaves: [to], ...more });
const items = (...events: LoopEvent[]): Item[] => fold(emptyBuilt, events).items;
const shown = (list: Item[], open: string[] = []) => withoutLeft(list, (k) => open.includes(k)).items.map((row) => (row.kind === "rewound" ? row.key : `${row.kind} ${row.runId}`));

it("folds what left behind the row that says so", () => {
  const list = items(...run("1"), ...run("2"), ...run("3"), went("w", "2"));
  expect(shown(list)).toEqual(["prompt 1", "start 1", "text 1", "end 1", "ww"]);
  const open = withoutLeft(list, () => true);
  expect(open.items).toHaveLength(list.length);
  expect(open.gone.size).toBe(8);
  expect(shown(items(...run("1"), went("w", "1", { what: "files" })))).toContain("text 1");
});

it("shows all again once it is undone, and folds one within another", () => {
  const list = items(...run("1"), ...run("2"), went("v", "2"), ...run("3"), went("w", "1"));
  expect(shown(list)).toEqual(["ww"]);
  expect(shown(items(...run("1"), ...run("2"), went("w", "2"), went("w", "2", { state: "undone" }, "rewind.undone")))).toHaveLength(9);
});

it("folds what is loaded where the prompt is on an older page", () => {
  const list = items(...run("2").slice(2), went("w", "1", { leaves: ["1", "2"] }));
  expect(shown(list)).toEqual(["ww"]);
  expect(shown(items(...run("0").slice(2), went("w", "1", { leaves: ["1"] })))).toHaveLength(3);
});

it("knows what would leave, and what can be undone", () => {
  const list = items(...run("1"), ...run("2"));
  expect(leavingRows(list, "2").size).toBe(3);
  expect(leavingRows(list, "9").size).toBe(0);
  expect(lastPrompt(list)).toBe("2");
  const after = items(...run("1"), went("w", "1"), ...run("2"));
  const row = after.find((x): x is RewoundItem => x.kind === "rewound");
  expect(row && undoable(after, row)).toBe(false);
  expect(row && undoable(after.slice(0, 5), row)).toBe(true);
});

it("takes an event of any shape", () => {
  expect(items(ev("rewind.went", "", { id: 7, leaves: "x", what: "all", state: 3, prompt_ms: "soon" }))[0]).toMatchObject({ kind: "rewound", rewind: { id: "7", leaves: [], what: "files", state: "done", prompt_ms: 0 } });
});

it("says it in words", () => {
  const p = { no_files: "", files: [{ path: "a/b.go", back: "comes" }, { path: "c" }], talk: { why: "", prompts: 2, turns: 1, took_ms: 0, cost_usd: 0.5 } } as unknown as RewindPreview;
  expect(possible(p)).toEqual(["both", "files", "conversation"]);
  expect(possible({ ...p, no_files: "x" })).toEqual(["conversation"]);
  expect(possible({ ...p, no_files: "x", talk: { ...p.talk, why: "y" } })).toEqual([]);
  expect(leavesWords(p)).toBe("2 prompts, 1 turn, $0.50");
  expect(keptOf(p, new Set(["c", "gone"]))).toEqual(["c"]);
  expect((p.files ?? []).slice(0, 1).map(backWords)).toEqual(["comes back"]);
  expect(placeOf("a/b/c.go")).toEqual({ name: "c.go", folder: "a/b" });
  expect(placeOf("c.go")).toEqual({ name: "c.go", folder: "" });
  expect([fill({ used_tokens: 61, window_tokens: 100 }), fill({ used_tokens: 5 }), fill(undefined)]).toEqual([61, -1, -1]);
  const r = { what: "both", state: "done" } as Rewind;
  expect([wentWords(r, "14:21"), wentWords({ ...r, state: "undone", what: "files" }, "14:21")]).toEqual(["Went back to 14:21", "Files went back to 14:21, undone"]);
  expect(wentWords({ ...r, state: "broken" }, "14:21")).toContain("Loop ended");
});
