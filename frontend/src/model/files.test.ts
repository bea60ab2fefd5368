import { describe, expect, it } from "vitest";
import { filePaths, follow, insertWord, mayBringFiles, runtimeTells } from "./files";

it("takes paths from what a file manager drops", () => {
  expect(filePaths("# c\r\nfile:///home/a%20b/x\r\nhttps://x/y\r\nfile://localhost/z\nfile://other/z\nfile:///%00\nfile:///%zz")).toEqual(["/home/a b/x", "/z"]);
  expect(filePaths("file:///C:/x")).toEqual(["C:/x"]);
});

it("knows drags of files by their types", () => {
  expect(mayBringFiles(["Files"])).toBe(true);
  expect(mayBringFiles(["text/uri-list", "text/html"])).toBe(true);
  expect(mayBringFiles(["text/plain"])).toBe(false);
});

it("leaves to the window's runtime what that tells: files", () => {
  expect(runtimeTells(["Files"], "")).toBe(true);
  expect(runtimeTells(["text/uri-list", "text/html", "text/plain"], "")).toBe(true);
  expect(runtimeTells(["text/uri-list"], "file:///x")).toBe(true);
  expect(runtimeTells(["text/uri-list", "text/plain"], "https://x/y")).toBe(false);
  expect(runtimeTells(["text/plain"], "")).toBe(false);
});

describe("a word in a prompt", () => {
  // | marks the place
  const put = (s: string, word = "/a") => {
    const { text, at } = insertWord(s.replace("|", ""), s.indexOf("|"), word);
    return `${text.slice(0, at)}|${text.slice(at)}`;
  };
  it.each([
    ["|", "/a |"],
    ["look at|", "look at /a |"],
    ["look at |", "look at /a |"],
    ["look at | and say", "look at /a| and say"],
    ["look at| and say", "look at /a| and say"],
    ["look| at", "look /a| at"],
    ["one\n|\ntwo", "one\n/a|\ntwo"],
    ["|two", "/a |two"],
    ["ha|lf", "ha /a |lf"],
  ])("%s", (from, to) => expect(put(from)).toBe(to));

  it("comes after the one before it", () => {
    const one = insertWord("see  please", 4, "'/a b'");
    expect(insertWord(one.text, one.at, "/c").text).toBe("see '/a b' /c please");
    const end = insertWord("see", 3, "/a");
    expect(insertWord(end.text, end.at, "/c").text).toBe("see /a /c ");
  });
});

it.each([
  ["ab|cd", "ab|cd"],
  ["ab|", "ab|ef"], // text typed at the place comes behind the inserted word
  ["|ab", "|xab"],
  ["ab|cd", "xab|cd"],
  ["ab|cd", "ab|c"],
  ["ab|cd", "a|cd"],
  ["ab|cd", "|"], // the prompt was sent
  ["ab|cd", "xyz|"], // the whole text was replaced
  ["aa|aa", "aa|a"],
])("follows its place from %s to %s", (from, to) => {
  expect(follow(from.replace("|", ""), to.replace("|", ""), from.indexOf("|"))).toBe(to.indexOf("|"));
});
