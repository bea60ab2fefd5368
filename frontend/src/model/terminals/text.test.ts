import { describe, expect, it } from "vitest";
import { parseOsc52, MAX_OSC52 } from "./osc52";
import { asOneLine, MAX_PASTE, preparePaste, preview } from "./paste";
import { quotePath, quotePosix } from "./quote";
import { cleanTitle, dirName, reportedDir } from "./titles";

describe("paste", () => {
  it.each([
    ["ls\u001b[201~rm -rf /\n", "lsrm -rf /\n"],
    ["ls\u009b201~x", "lsx"],
    ["a\u001b[20\u001b[201~1~b", "ab"],
    ["a\u009b20\u001b[200~1~b", "ab"],
    ["\u001b[200~x\u001b[201~", "x"],
    ["a\u001b\u0000[201~b", "a[201~b"], // a marker without its ESC is only text
    ["bell\u0007 back\u0008 del\u007f csi\u009b nul\u0000", "bell back del csi nul"],
    ["tab\tcr\r\nlf\nlone\rend", "tab\tcr\nlf\nlone\nend"],
    ["ünïcödé 日本 👩‍👩‍👧", "ünïcödé 日本 👩‍👩‍👧"],
  ])("%j becomes %j", (raw, want) => expect(preparePaste(raw, false).text).toBe(want));

  it("leaves no marker, however it is put together", () => {
    const parts = ["\u001b[201~", "\u009b201~", "\u001b[", "\u009b", "20", "1~", "0~", "x", "\u001b"];
    let seed = 1;
    for (let i = 0; i < 3000; i++) {
      let s = "";
      for (let j = 0; j < 8; j++) {
        seed = (seed * 48271) % 2147483647;
        s += parts[seed % parts.length];
      }
      // eslint-disable-next-line no-control-regex -- the pattern must match control characters
      expect(preparePaste(s, true).text).not.toMatch(/[\u001b\u009b]/);
    }
  });

  it("asks only for several lines into a program without bracketed paste", () => {
    expect(preparePaste("a\nb", false).ask).toBe(true);
    expect(preparePaste("a\nb", true).ask).toBe(false);
    expect(preparePaste("a\n", false).ask).toBe(false);
    expect(preparePaste("a\n\n", false).ask).toBe(true);
    expect(preparePaste("\na", false).ask).toBe(true);
    expect(preparePaste("a", false).ask).toBe(false);
    expect(preparePaste("a\nb\nc\n", false)).toMatchObject({ lines: 3, removed: 0 });
    expect(preparePaste("x".repeat(MAX_PASTE + 1), false)).toMatchObject({ tooLong: true, text: "" });
    expect(preparePaste("日".repeat(MAX_PASTE / 2), false).tooLong).toBe(true);
    expect(preparePaste("x".repeat(MAX_PASTE), false).tooLong).toBe(false);
  });

  it("makes one line of several", () => {
    expect(asOneLine("docker run \\\n  --rm \\\n  alpine\n")).toBe("docker run --rm alpine");
    expect(asOneLine("a\n\n  b  \n")).toBe("a b");
    expect(asOneLine("path\\\\\nb")).toBe("path\\\\ b");
    expect(preview("1\n2\n3", 2)).toBe("1\n2\n… 1 more");
  });
});

describe("osc 52", () => {
  it.each([
    ["c;aGVsbG8=", { kind: "write", text: "hello", primary: false }],
    [";aGVsbG8", { kind: "write", text: "hello", primary: false }],
    ["p;8J+YgA==", { kind: "write", text: "😀", primary: true }],
    ["pc;eA==", { kind: "write", text: "x", primary: false }],
    ["c;?", { kind: "read" }],
    ["c;", { kind: "clear" }],
    ["c;!!", { kind: "bad" }],
    ["c;a", { kind: "bad" }],
    ["c;/w==", { kind: "bad" }],
    ["z;eA==", { kind: "bad" }],
    ["nothing", { kind: "bad" }],
  ])("%s", (data, want) => expect(parseOsc52(data)).toEqual(want));
  it("has a cap", () => {
    expect(parseOsc52(`c;${"QUFB".repeat(MAX_OSC52 / 3 + 1)}`)).toMatchObject({ kind: "too-long" });
    expect(parseOsc52(`c;${"QUFB".repeat(1000)}`)).toMatchObject({ kind: "write", text: "A".repeat(3000) });
  });
});

describe("quote", () => {
  it.each([
    ["/a/b.txt", "/a/b.txt"],
    ["/a b", "'/a b'"],
    ["it's", `'it'\\''s'`],
    ["$(rm -rf ~)", "'$(rm -rf ~)'"],
    ["a\nb", "'a\nb'"],
    ["-rf", "./'-rf'"],
    ["", "''"],
  ])("%j is %j", (path, want) => expect(quotePosix(path)).toBe(want));
  it("for Windows", () => {
    expect(quotePath("C:\\Program Files\\x", "windows")).toBe('"C:\\Program Files\\x"');
    expect(quotePath('C:\\a"b & c', "windows")).toBe('"C:\\ab & c"');
    expect(quotePath("C:\\x", "windows")).toBe("C:\\x");
  });
});

describe("titles", () => {
  it.each([
    ["vim \u202eexe.txt", "vim exe.txt"],
    ["a\u0007b\u001b[31mc\u009b", "ab[31mc"],
    ["\u200b\u2066 x \u2069", "x"],
    ["日本 é ✓ 👍", "日本 é ✓ 👍"],
    ["x\ufffdy\u2028z\ttab", "xyztab"],
  ])("%j", (raw, want) => expect(cleanTitle(raw)).toBe(want));
  it("are short", () => expect([...cleanTitle("👍".repeat(500))].length).toBe(200));
  it("know folders", () => {
    expect(reportedDir(7, "file://host/home/ana/my%20src")).toBe("/home/ana/my src");
    expect(reportedDir(7, "http://x/")).toBeNull();
    expect(reportedDir(7, "file:///%zz")).toBeNull();
    expect(reportedDir(633, "P;Cwd=/a/b")).toBe("/a/b");
    expect(reportedDir(1337, "CurrentDir=/c")).toBe("/c");
    expect(reportedDir(1337, "File=x")).toBeNull();
    expect(dirName("/home/ana/src/")).toBe("src");
    expect(dirName("/")).toBe("/");
    expect(dirName("C:\\Users\\ana")).toBe("ana");
  });
});
