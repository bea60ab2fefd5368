import { describe, expect, it } from "vitest";
import { outcomeOf, saysWhatItChanges, withFiles } from "./changedfiles";
import { toolResult } from "./coerce";
import { newRun } from "./items";

const file = (path: string, added = 1, removed = 0) => ({ path, kind: "edit", added, removed });

describe("what came of a run", () => {
  it("adds up what several calls changed in a file", () => {
    const one = withFiles([], "t1", [file("a.go", 3, 1), file("b.go")]);
    const two = withFiles(one, "t2", [file("a.go", 2, 2), file("")]);
    expect(two).toEqual([{ path: "a.go", added: 5, removed: 3, useId: "t1" }, { path: "b.go", added: 1, removed: 0, useId: "t1" }]);
    expect(one[0]?.added).toBe(3);
  });
  it("says how many files and lines", () => {
    const run = { ...newRun("r", 1), files: withFiles([], "t", [file("a", 40, 4), file("b", 8), file("c", 0)]) };
    expect(outcomeOf(run, true)).toMatchObject({ words: "3 files", added: 48, removed: 4 });
    expect(outcomeOf({ ...run, files: run.files.slice(0, 1) }, false)).toMatchObject({ words: "1 file" });
  });
  it("names once what reaches further than the project", () => {
    const ci = { ...file(".github/workflows/a.yml"), alarm: "CI workflow" };
    const all = withFiles(withFiles([], "t", [file("a.go"), ci]), "u", [ci, { ...ci, path: ".github/workflows/b.yml" }, { ...file(".husky/pre-push"), alarm: "Git hook" }]);
    expect(outcomeOf({ ...newRun("r", 1), files: all }, true)?.alarms).toEqual(["CI workflow", "Git hook"]);
    expect(outcomeOf({ ...newRun("r", 1), files: all.slice(0, 1) }, true)?.alarms).toEqual([]);
    expect(outcomeOf({ ...newRun("r", 1), promptAt: 1 }, true)?.alarms).toEqual([]);
  });
  it("has that word from the event of the result", () => {
    const result = (alarm: unknown) => toolResult({ tool_use_id: "t", output: "", is_error: false, files: [{ ...file("a"), alarm }] } as never).files?.[0]?.alarm;
    expect([result("Git hook"), result(undefined), result({})]).toEqual(["Git hook", undefined, "{}"]);
  });
  it("knows which tools say what they change", () => {
    expect(["Read", "Edit", "mcp__loop__send_message"].every(saysWhatItChanges)).toBe(true);
    expect(["Bash", "NotebookEdit", "mcp__files__write", "tool", ""].some(saysWhatItChanges)).toBe(false);
  });
  it("claims that nothing was changed only where that is known", () => {
    const run = { ...newRun("r", 1), promptAt: 1 };
    expect(outcomeOf(run, true)).toMatchObject({ words: "no files changed", files: [] });
    expect(outcomeOf({ ...run, commands: true }, true)).toBeNull();
    expect(outcomeOf({ ...run, promptAt: 0 }, true)).toBeNull();
    expect(outcomeOf(run, false)).toBeNull();
    expect(outcomeOf(undefined, true)).toBeNull();
  });
});
