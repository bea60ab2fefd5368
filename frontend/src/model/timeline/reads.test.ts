import { describe, expect, it } from "vitest";
import type { Item, ReadsItem, ToolItem } from "./items";
import { foldReads, noReads, readsWords } from "./reads";

const call = (key: string, name = "Read", more: Partial<ToolItem> = {}, output = "1\n2\n"): ToolItem => ({
  kind: "tool", key, at: 1, runId: "r", useId: key, parentId: "", name, input: { file_path: `/p/${key}.go` }, endedAt: 2, orphaned: false, cut: false,
  result: { tool_use_id: key, output, is_error: false } as ToolItem["result"], ...more,
});
const failed = (key: string): ToolItem => call(key, "Read", { result: { tool_use_id: key, output: "no", is_error: true } as ToolItem["result"] });
const busy = (key: string): ToolItem => call(key, "Read", { result: null });
const text = { kind: "text", key: "t", at: 1, runId: "r" } as Item;
const shut = () => false;
const keys = (items: Item[], memory = noReads, still = false, isOpen: (key: string) => boolean = shut) => foldReads(items, memory, still, isOpen).rows.map((r) => r.key);

describe("a run of reads and searches", () => {
  const [a, b, c, d] = [call("a"), call("b", "Grep"), call("c", "Glob"), call("d")];
  it("is one row from three on", () => {
    expect(keys([text, a, b, c, d])).toEqual(["t", "reads a"]);
    expect(keys([a, b, text, c, d])).toEqual(["a", "b", "t", "c", "d"]);
    expect(keys([a, b, call("x", "Bash"), c])).toEqual(["a", "b", "x", "c"]);
  });
  it("leaves what failed or is under way a row of its own", () => {
    expect(keys([a, b, c, failed("f"), d, busy("g")])).toEqual(["reads a", "f", "d", "g"]);
  });
  it("stays within one run and one helper", () => {
    expect(keys([a, b, call("x", "Read", { runId: "s" }), call("y", "Read", { parentId: "h" })])).toEqual(["a", "b", "x", "y"]);
  });
  it("opens to its rows", () => {
    const v = foldReads([a, b, c, text], noReads, false, (key) => key === "reads a");
    expect([v.rows.map((r) => r.key), [...v.inside]]).toEqual([["reads a", "a", "b", "c", "t"], ["a", "b", "c"]]);
  });
});

describe("while rows come in", () => {
  const [a, b, c, d, e] = [call("a"), call("b"), call("c"), call("d"), call("e")];
  it("folds at the end that is followed, and takes in what ends", () => {
    const two = foldReads([a, b, busy("c")], noReads, false, shut);
    expect(two.rows.map((r) => r.key)).toEqual(["a", "b", "c"]);
    const three = foldReads([a, b, c, busy("d")], two.memory, false, shut);
    expect(three.rows.map((r) => r.key)).toEqual(["reads a", "d"]);
    expect(keys([a, b, c, d], three.memory)).toEqual(["reads a"]);
  });
  it("takes no row away that may be read, also not later", () => {
    const before = foldReads([a, b, busy("c")], noReads, false, shut);
    const read = foldReads([a, b, c], before.memory, true, shut);
    expect(read.rows.map((r) => r.key)).toEqual(["a", "b", "c"]);
    expect(keys([a, b, c, d], read.memory)).toEqual(["a", "b", "c", "d"]);
    const folded = foldReads([a, b, c, busy("d")], noReads, false, shut);
    expect(keys([a, b, c, d], folded.memory, true)).toEqual(["reads a", "d"]);
  });
  it("leaves an opened row where it is, also once it is closed", () => {
    const before = foldReads([a, b, busy("c")], noReads, false, shut);
    const opened = foldReads([a, b, c, d, e], before.memory, false, (key) => key === "b");
    expect(opened.rows.map((r) => r.key)).toEqual(["a", "b", "reads c"]);
    expect(keys([a, b, c, d, e], opened.memory)).toEqual(["a", "b", "reads c"]);
  });
  it("leaves the row that has the keyboard", () => {
    const before = foldReads([a, b, busy("c")], noReads, false, shut);
    expect(foldReads([a, b, c, d], before.memory, false, shut, "c").rows.map((r) => r.key)).toEqual(["a", "b", "c", "d"]);
  });
  it("keeps a folded run as it is when an older page comes in above", () => {
    const page = foldReads([c, d, e], noReads, false, shut);
    expect(keys([a, b, c, d, e], page.memory, true)).toEqual(["a", "b", "reads c"]);
    expect(keys([call("x"), a, b, c, d, e], page.memory, true)).toEqual(["reads x", "reads c"]);
  });
});

it("says how many files in which folders, how many searches and lines", () => {
  const words = (...items: ToolItem[]) => {
    const w = readsWords({ kind: "reads", items } as unknown as ReadsItem, "/p");
    return [w.verb, w.folders, w.searched, w.lines];
  };
  const at = (path: unknown) => call("k", "Read", { input: { file_path: path } });
  expect(words(at("/p/in/a.go"), at("/p/in/a.go"), at("/p/b.go"), call("s", "Grep"))).toEqual(["Read 2 files", "in", "and searched once", 6]);
  expect(words(at("/p/a/1"), at("/p/b/1"), at("/p/c/1"), at("/p/d/1"))).toEqual(["Read 4 files", "a, b, c …", "", 8]);
  expect(words(call("s", "Grep"), call("u", "LS"), at(undefined))).toEqual(["Read 1 file", "", "and searched 2 times", 2]);
  expect(words(call("s", "Grep"), call("u", "LS"))).toEqual(["Searched 2 times", "", "", 0]);
});
