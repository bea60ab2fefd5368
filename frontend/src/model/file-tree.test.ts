import { expect, it } from "vitest";
import type { ContainerFile, FileListing } from "../api/types";
import { above, inOrder, joined, languageOf, nameOf, rowsOf, rowWords } from "./file-tree";
import type { Folders, TreeRow } from "./file-tree";

const file = (name: string, kind = "file", more: Partial<ContainerFile> = {}): ContainerFile => ({ name, kind, bytes: 1, modified_ms: 0, ...more });
const listing = (path: string, files: ContainerFile[], left = ""): { listing: FileListing; failure: null } => ({ listing: { path, files, ...(left ? { left } : {}) }, failure: null });
const shown = (rows: TreeRow[]) => rows.map((r) => `${"  ".repeat(r.level - 1)}${r.kind === "file" ? r.file.name + (r.folder ? (r.open ? "/ open" : "/") : "") : `(${r.text})`}`);

it("joins and takes paths apart", () => {
  expect(joined("/", "etc")).toBe("/etc");
  expect(joined("/a", "b")).toBe("/a/b");
  expect([above("/a/b"), above("/a"), above("/")]).toEqual(["/a", "/", "/"]);
  expect([nameOf("/a/b"), nameOf("/")]).toEqual(["b", "/"]);
});

it("sorts folders first, and numbers by value", () => {
  expect(inOrder([file("b10"), file("B2"), file("z", "folder"), file("a", "link"), file("A", "folder")]).map((f) => f.name)).toEqual(["A", "z", "a", "B2", "b10"]);
});

it("shows open folders, and says what is read, empty, failed or left out", () => {
  const failure = { code: "directory", cause: "You may not read it.", remedy: "" };
  const folders: Folders = new Map([
    ["/p", listing("/p", [file("src", "folder"), file("empty", "folder"), file("new", "folder"), file("bad", "folder"), file("a.txt"), file("l", "link")], "More is there.")],
    ["/p/src", listing("/p/src", [file("x.go")])],
    ["/p/empty", listing("/p/empty", [])],
    ["/p/bad", { listing: null, failure }],
  ]);
  const open = new Set(["/p/src", "/p/empty", "/p/new", "/p/bad", "/p/a.txt"]);
  expect(shown(rowsOf("/p", folders, open))).toEqual([
    "bad/ open", "  (You may not read it.)", "empty/ open", "  (Nothing is in this folder.)", "new/ open", "  (Reading the folder)", "src/ open", "  x.go", "a.txt", "l", "(More is there.)",
  ]);
  expect(shown(rowsOf("/p", folders, open, ".GO"))).toEqual(["src/ open", "  x.go", "(More is there.)"]);
  expect(shown(rowsOf("/p", new Map(), open))).toEqual(["(Reading the folder)"]);
  const linked: Folders = new Map([...folders, ["/p/l", listing("/q", [file("y")])]]);
  expect(shown(rowsOf("/p", linked, new Set(["/p/l"]))).slice(-3)).toEqual(["l/ open", "  y", "(More is there.)"]);
  expect(rowsOf("/p", folders, new Set()).map(rowWords)).toContain("l");
});

it("knows languages by name", () => {
  expect(["/x/a.tsx", "/x/Makefile", "/x/.bashrc", "/x/go.mod", "/x/a.SH", "/x/plain"].map(languageOf)).toEqual(["tsx", "make", "", "go", "bash", ""]);
});
