import { expect, test } from "vitest";
import { withoutLeft } from "../rewind";
import { foldReads, noReads } from "./reads";
import type { Item, RewoundItem, ToolItem } from "./items";
import { nestAll } from "./talks";
import { wayTo } from "./wayto";

const tool = (key: string, name: string, more: Partial<ToolItem> = {}): ToolItem =>
  ({ kind: "tool", key, at: 1, runId: "r", useId: `use-${key}`, name, parentId: "", input: {}, result: { tool_use_id: key, is_error: false, output: "" }, ...more }) as ToolItem;
const read = (key: string, parentId = "") => tool(key, "Read", { parentId });
const text = (key: string, runId = "r") => ({ kind: "text", key, at: 1, runId, text: key }) as Item;
const talk = { kind: "talk", key: "ttalk-1", at: 1, runId: "talk-1", talk: {} } as Item;
const prompt = { kind: "prompt", key: "p2", at: 1, runId: "r2", text: "again" } as Item;
const rewound = { kind: "rewound", key: "w", at: 1, runId: "r2", rewind: { run_id: "r2", what: "both", state: "done", leaves: ["r2"] } } as unknown as RewoundItem;

/** Opens what is in the way, as the list does, and gives the rows that it opened and where it came to. */
function goTo(items: Item[], id: string): string[] {
  const open = new Set<string>();
  for (;;) {
    const isOpen = (key: string) => open.has(key);
    const stays = withoutLeft(items, isOpen);
    const nested = nestAll(stays.items, isOpen, true);
    const { rows } = foldReads(nested.rows, noReads, false, isOpen);
    const way = wayTo(rows, [nested.hidden, stays.hidden], isOpen, id);
    if (!way) return [...open, "nowhere"];
    if ("at" in way) return [...open, `at ${rows[way.at]?.key}`];
    open.add(way.open);
  }
}

test("a row that is shown is gone to, by its key or its call", () => {
  const items = [text("e1"), tool("e2", "Bash")];
  expect([goTo(items, "e2"), goTo(items, "tool use-e2"), goTo(items, "e9")]).toEqual([["at e2"], ["at e2"], ["nowhere"]]);
});

test("a read in a folded run opens the run and is gone to", () => {
  expect(goTo([text("e1"), read("e2"), read("e3"), read("e4")], "e3")).toEqual(["reads e2", "at e3"]);
});

test("what a sub-agent did is gone to through all that hides it", () => {
  const items = [
    tool("e1", "Task", { agent: { said: "", report: "" } as ToolItem["agent"] }),
    tool("e2", "Task", { parentId: "use-e1", agent: { said: "", report: "" } as ToolItem["agent"] }),
    read("e3", "use-e2"), read("e4", "use-e2"), read("e5", "use-e2"),
  ];
  expect(goTo(items, "e4")).toEqual(["e1", "e2", "reads e3", "at e4"]);
});

test("a message in a closed talk, and what left by a rewind, come out", () => {
  expect(goTo([talk, text("e5", "talk-1")], "e5")).toEqual(["ttalk-1", "at e5"]);
  expect(goTo([text("e1"), prompt, text("e3", "r2"), rewound], "e3")).toEqual(["w", "at e3"]);
});

test("a row that is open and hides it all the same is as near as it gets", () => {
  const rows = [text("e1")];
  expect(wayTo(rows, [new Map([["e1", [text("e2")]]])], () => true, "e2")).toEqual({ at: 0 });
});
