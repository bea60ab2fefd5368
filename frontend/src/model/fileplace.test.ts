import { expect, it } from "vitest";
import { chosenLines, fileOf, fileParts, linesWords, placeWords } from "./fileplace";
import { mentionsIn } from "./mention";
import type { Item } from "./timeline/items";

const parts = (text: string, alone = false) => fileParts(text, alone).map((p) => (p.file ? `[${p.file.path}|${p.file.line}]` : p.text)).join("");

it("parts a text at the places that it names", () => {
  expect(parts("see internal/auth/login.go:42, and main.go:3:7.")).toBe("see [internal/auth/login.go|42], and [main.go|3].");
  expect(parts("no place at 10:42 or localhost:80")).toBe("no place at 10:42 or localhost:80");
  expect(parts("")).toBe("");
});

it("takes a path for one only where it stands alone", () => {
  expect(parts("internal/auth/login.go", true)).toBe("[internal/auth/login.go|0]");
  expect(parts("internal/auth/login.go")).toBe("internal/auth/login.go");
  for (const t of ["fmt.Println", "a/b", "go test ./...", "https://x.org/a.html", `${"a/".repeat(200)}b.go`]) expect(parts(t, true)).toBe(t);
});

it("knows the file of a row", () => {
  const tool = (input: unknown, result: unknown = null) => ({ kind: "tool", key: "e", at: 0, runId: "r", input, result }) as unknown as Item;
  expect(fileOf(tool({ file_path: "/p/a.go", offset: 7 }))).toMatchObject({ path: "/p/a.go", line: 7 });
  expect(fileOf(tool({ file_path: "/p/a.go" }, { output: "", files: [{ path: "/p/b.go", patch: "@@ -1,2 +9,3 @@\n" }] }))).toMatchObject({ path: "/p/b.go", line: 9 });
  expect(fileOf(tool({ command: "go vet" }, { output: "x.go:3: wrong" }))).toMatchObject({ path: "x.go", line: 3 });
  expect(fileOf(tool({ command: "ls" }))).toBeNull();
  expect(fileOf({ kind: "text", text: "at a/b.ts:5" } as unknown as Item)).toMatchObject({ path: "a/b.ts", line: 5 });
  expect(fileOf({ kind: "end" } as unknown as Item)).toBeNull();
});

it("chooses lines by clicks", () => {
  expect(chosenLines(null, 4, true)).toEqual({ from: 4, to: 4 });
  expect(chosenLines({ from: 4, to: 4 }, 9, true)).toEqual({ from: 4, to: 9 });
  expect(chosenLines({ from: 4, to: 9 }, 2, true)).toEqual({ from: 2, to: 9 });
  expect(chosenLines({ from: 4, to: 4 }, 4, false)).toBeNull();
  expect(linesWords({ from: 4, to: 9 })).toBe("lines 4–9");
  expect([placeWords("a/b.go", null), placeWords("a/b.go", { from: 4, to: 4 }), placeWords("a b.go", { from: 4, to: 9 })]).toEqual(["@a/b.go", "@a/b.go#L4", '@"a b.go#L4-9"']);
  expect(mentionsIn(`${placeWords("a b.go", { from: 4, to: 9 })} and ${placeWords("a/b.go", { from: 4, to: 4 })}`)).toEqual(["a b.go", "a/b.go"]);
});
