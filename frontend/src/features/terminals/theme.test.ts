import { describe, expect, it } from "vitest";
import { hexColor, toldColors } from "./theme";

describe("colours that programs are told", () => {
  it("are whole numbers of six digits", () => {
    expect(["#fff", "#14171B", "#1234", "red", "", undefined].map(hexColor)).toEqual(["#ffffff", "#14171b", null, null, null, null]);
  });
  it("are not told by halves", () => {
    expect(toldColors({ foreground: "#fff", background: "#000" })).toEqual({ foreground: "#ffffff", background: "#000000", cursor: "#ffffff" });
    expect(toldColors({ foreground: "#fff", background: "canvas" })).toBeNull();
  });
});
