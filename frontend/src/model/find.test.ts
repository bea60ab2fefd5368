import { expect, it } from "vitest";
import type { FoundEvent } from "../api/types";
import { countWords, noFind, rowOf, stretches, whose, wordsOf } from "./find";
import type { Item } from "./timeline/items";

const hit = (more: Partial<FoundEvent>): FoundEvent => ({ event_id: 1, channel_id: "c", run_id: "r", type: "message.created", timestamp: 10, excerpt: "", ...more });

it("takes a query apart", () => {
  expect(wordsOf('one  "two three" fo')).toEqual(["one", "two three", "fo"]);
  expect(wordsOf('* - "" "open end')).toEqual(["open end"]);
});

it("marks words from their beginning", () => {
  expect(stretches("Bucket, bucketful; abucket", ["bucket"])).toEqual([{ from: 0, to: 6 }, { from: 8, to: 14 }]);
  expect(stretches("login.go", ["login", "login.go"])).toEqual([{ from: 0, to: 8 }]);
  expect(stretches("İstanbul bucket", ["bucket"]).length).toBeLessThan(2);
  expect(stretches("a ".repeat(5000), ["a"]).length).toBe(200);
});

it("says whose a hit is", () => {
  expect([hit({}), hit({ is_bot: true }), hit({ type: "tool.use", tool_name: "Bash" }), hit({ type: "agent.exit_plan" })].map(whose)).toEqual(["You", "Agent", "Bash", "Question"]);
});

it("finds the row of a hit", () => {
  const items = [
    { kind: "prompt", key: "e1", at: 10, runId: "r", text: "", author: "" },
    { kind: "text", key: "r/m/text/0", at: 12, runId: "r" },
    { kind: "tool", key: "e4", at: 13, runId: "r", useId: "t1" },
    { kind: "reads", key: "reads e6", at: 14, runId: "r", items: [{ kind: "tool", key: "e6", at: 14, runId: "r", useId: "t2" }] },
  ] as unknown as Item[];
  expect(rowOf(items, hit({}))?.key).toBe("e1");
  expect(rowOf(items, hit({ event_id: 3, timestamp: 12 }))?.key).toBe("r/m/text/0");
  expect(rowOf(items, hit({ event_id: 5, timestamp: 99, tool_use_id: "t1" }))?.key).toBe("e4");
  expect(rowOf(items, hit({ event_id: 6, timestamp: 14 }))?.key).toBe("reads e6");
  expect(rowOf(items, hit({ event_id: 7, timestamp: 13.5 }))?.key).toBe("e4");
  expect(rowOf(items, hit({ event_id: 7, timestamp: 5 }))).toBeUndefined();
});

it("counts", () => {
  expect(countWords(noFind)).toBe("");
  expect(countWords({ ...noFind, phase: "done" })).toBe("Nothing found");
  expect(countWords({ ...noFind, phase: "done", found: [hit({}), hit({})], at: 1, more: true })).toBe("2 of 2+");
});
