import { describe, expect, it } from "vitest";
import { changesOf, wordMarks } from "./change";
import { parsePatch } from "./patch";

const words = (patch: string) => {
  const lines = parsePatch(patch);
  return [...wordMarks(lines)].map(([i, ranges]) => `${lines[i]?.kind}: ${ranges.map(([from, to]) => lines[i]?.text.slice(from, to)).join("|")}`);
};
const kinds = (patch: string | undefined) => parsePatch(patch ?? "").filter((l) => l.kind !== "hunk").map((l) => `${l.kind} ${l.newNo || l.oldNo} ${l.text}`);

describe("the words that differ", () => {
  it("are marked in lines that take each other's place", () => {
    expect(words("@@ -1,2 +1,2 @@\n-wait(t, 50*time.Millisecond)\n-got()\n+wait(t, srv.Written())\n+got(1)\n same\n")).toEqual([
      "del: 50*time.Millisecond", "add: srv.Written())", "del: ", "add: 1",
    ]);
  });
  it("are none where a line is another one, very long, or stands alone", () => {
    expect(words("@@ -1 +1 @@\n-time.Sleep(50)\n+select {\n")).toEqual([]);
    expect(words(`@@ -1 +1 @@\n-${"a ".repeat(400)}\n+${"b ".repeat(400)}\n`)).toEqual([]);
    expect(words("@@ -1 +1,2 @@\n-gone\n same\n+came\n")).toEqual([]);
  });
  it("stay quick in thousands of lines", () => {
    const many = (sign: string) => Array.from({ length: 5000 }, (_, i) => `${sign}line ${i} ${sign}`).join("\n");
    expect(words(`${many("-")}\n${many("+")}`).length).toBe(800);
  });
});

describe("a change", () => {
  const file = { path: "/p/a.go", kind: "edit", added: 1, removed: 0, patch: "@@ -1 +1 @@\n+x\n" };
  it("is what the result says, before what was asked for", () => {
    expect(changesOf("Edit", { file_path: "/p/a.go", old_string: "a", new_string: "b" }, [file])).toEqual([{ path: "/p/a.go", patch: file.patch, numbered: true }]);
    expect(changesOf("Bash", { command: "ls" }, [])).toEqual([]);
    expect(changesOf("Edit", null, [])).toEqual([]);
  });
  it("is the whole of a new file", () => {
    const [c] = changesOf("Write", { file_path: "/p/b.go", content: "one\n\nthree\n" }, [{ ...file, kind: "create", patch: "" }]);
    expect([c?.path, c?.numbered, kinds(c?.patch)]).toEqual(["/p/b.go", true, ["add 1 one", "add 2 ", "add 3 three"]]);
  });
  it("is what an edit asks for, without numbers, while there is no result", () => {
    const [c] = changesOf("Edit", { file_path: "/p/a.go", old_string: "a\nb\nc", new_string: "a\nB\nc" }, []);
    expect([c?.numbered, kinds(c?.patch).map((l) => l.replace(/ \d+/, ""))]).toEqual([false, ["same a", "del b", "add B", "same c"]]);
    const [m] = changesOf("MultiEdit", { file_path: "/p/a.go", edits: [{ old_string: "-a", new_string: "" }, { old_string: 7 }, null, { old_string: "", new_string: "@@ x" }] }, []);
    expect(parsePatch(m?.patch ?? "").map((l) => `${l.kind} ${l.text}`)).toEqual(["hunk ", "del -a", "hunk ", "add @@ x"]);
  });
});
