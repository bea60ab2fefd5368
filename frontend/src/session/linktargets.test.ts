import { describe, expect, it } from "vitest";
import { targetOf, targetWords } from "./linktargets";

describe("links", () => {
  it("lead to pages of the web, whose host is in ASCII", () => {
    expect(targetOf("https://example.com/a?b#c")).toEqual({ kind: "web", url: "https://example.com/a?b#c" });
    expect(targetOf("https://аррӏе.com/")).toEqual({ kind: "web", url: "https://xn--80ak6aa92e.com/" });
    expect(targetOf("http://a.b")).toEqual({ kind: "web", url: "http://a.b/" });
  });
  it("lead to files, at a line", () => {
    expect(targetOf("file://box/work/a%20b.go")).toEqual({ kind: "file", file: { path: "/work/a b.go", line: 0, column: 0 } });
    expect(targetOf("file:///work/a.go#L12")).toEqual({ kind: "file", file: { path: "/work/a.go", line: 12, column: 0 } });
    expect(targetOf("file:///work/a.go#12:3")).toEqual({ kind: "file", file: { path: "/work/a.go", line: 12, column: 3 } });
    expect(targetOf("file:///C:/p/a.go")).toEqual({ kind: "file", file: { path: "C:/p/a.go", line: 0, column: 0 } });
  });
  it("lead nowhere else", () => {
    for (const bad of ["", "a.go", "javascript:alert(1)", "vscode://file/a", "mailto:a@b.c", "http://", "data:text/html,x", "https://", "file:///", "file:///a%00b", "file:///a%0Ab", "file:///%zz"]) expect(targetOf(bad), bad).toBeNull();
  });
  it("are shown by their targets", () => {
    const words = (s: string) => { const t = targetOf(s); return t && targetWords(t); };
    expect([words("https://a.example/"), words("file:///w/a.go#3"), words("file:///w/a.go")]).toEqual(["https://a.example/", "/w/a.go:3", "/w/a.go"]);
  });
});
