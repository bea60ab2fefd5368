import { describe, expect, it } from "vitest";
import { ownTokens } from "./colors";

describe("colours of the person's own", () => {
  const of = (theme: string, ...c: string[]) => Object.fromEntries(ownTokens(c, theme));
  it("are for both looks or for one", () => {
    const c = ["dark.red=#aa0000", "red=#cc0000", "light.background=#fafafa", "bright_white=#FFFFFF", "selection=#112233"];
    expect(of("dark", ...c)).toEqual({ "--ansi-1": "#aa0000", "--ansi-15": "#FFFFFF", "--term-select": "#112233", "--term-select-off": "#112233" });
    expect(of("light", ...c)).toEqual({ "--ansi-1": "#cc0000", "--term-bg": "#fafafa", "--ansi-15": "#FFFFFF", "--term-select": "#112233", "--term-select-off": "#112233" });
  });
  it("are nothing else", () => {
    expect(of("dark", "red=url(x)", "orange=#ff8800", "constructor=#000000", "red=#12345", "contrast.red=#000000", "")).toEqual({});
  });
});
