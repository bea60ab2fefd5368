import { describe, expect, it } from "vitest";
import type { Folder } from "../api/types";
import { completed, samePath, separatorOf, shownFolders, splitTyped } from "./folder-path";

const folders = (...names: string[]): Folder[] => names.map((name) => ({ name, path: `/x/${name}` }));
const names = (list: Folder[]) => list.map((f) => f.name).join(" ");

describe("a path that is typed", () => {
  it.each([
    ["/home/ana/sr", "/", "/home/ana/", "sr"], ["/", "/", "/", ""], ["sr", "/", "", "sr"], ["", "/", "", ""], ["/a\\b", "/", "/", "a\\b"],
    ["C:\\Users\\an", "\\", "C:\\Users\\", "an"], ["C:/Users/an", "\\", "C:/Users/", "an"], ["\\\\srv\\share\\", "\\", "\\\\srv\\share\\", ""],
  ])("%s is in two parts", (typed, sep, dir, start) => {
    expect(splitTyped(typed, sep)).toEqual({ dir, start });
  });
  it("has the separator of its computer", () => {
    expect(["/home", "C:\\Users", "c:/Users", "\\\\srv\\x", "/c:/odd"].map(separatorOf)).toEqual(["/", "\\", "\\", "\\", "/"]);
  });
  it("names the same folder with a separator at its end", () => {
    expect([samePath("/a/", "/a"), samePath("/", "/"), samePath("//", "/"), samePath("C:\\a\\", "C:\\a"), samePath("/a", "/b"), samePath("/", "")]).toEqual([true, true, true, true, false, false]);
  });
});

describe("what fits", () => {
  const all = folders(".git", ".config", "src", "Site", "docs");
  it("hides what begins with a dot, unless it is asked for", () => {
    expect([names(shownFolders(all, "", false)), names(shownFolders(all, "", true)), names(shownFolders(all, ".c", false)), names(shownFolders(all, "S", false))]).toEqual(["src Site docs", ".git .config src Site docs", ".config", "src Site"]);
  });
  it("completes as far as all agree, and whole where one is left", () => {
    expect(completed("/x/do", folders("docs"), "/")).toBe("/x/docs/");
    expect(completed("/x/f", folders("feature-one", "feature-two"), "/")).toBe("/x/feature-");
    expect(completed("C:\\x\\DO", folders("docs"), "\\")).toBe("C:\\x\\docs\\");
    expect([completed("/x/feature-", folders("feature-one", "feature-two"), "/"), completed("/x/", folders("a"), "/"), completed("/x/q", [], "/"), completed("/x/s", folders("src", "Site"), "/")]).toEqual(["", "", "", ""]);
  });
});
