import { describe, expect, it } from "vitest";
import { markedParts } from "./marked";

const parts = (...args: Parameters<typeof markedParts>) => markedParts(...args).map((p) => `${p.text}${p.color && `:${p.color}`}${p.marked ? "!" : ""}`);
const tokens = [{ text: "if ", color: "k" }, { text: "got", color: "" }, { text: "()", color: "p" }];

describe("parts of a line", () => {
  it("are cut at colours and at marks", () => {
    expect(parts("if got()", tokens, [[1, 4], [7, 8]])).toEqual(["i:k", "f :k!", "g!", "ot", "(:p", "):p!"]);
    expect(parts("if got()", tokens, [])).toEqual(["if :k", "got", "():p"]);
    expect(parts("if got()", undefined, [[0, 2]])).toEqual(["if!", " got()"]);
  });
  it("have no colours of another text", () => {
    expect(parts("if get()", tokens, [])).toEqual(["if get()"]);
    expect(parts("", undefined, [])).toEqual([]);
  });
});
