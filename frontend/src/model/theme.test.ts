import { describe, expect, it } from "vitest";
import type { Theme, ThemeLook } from "../api/types";
import { kindWords, lookOf, parseTheme, ruleOf, tokensOf } from "./theme";

const look = (dark: boolean, colors: Record<string, string> = { "bg-1": "#101010" }): ThemeLook => ({ dark, colors });
const theme = (...looks: ThemeLook[]): Theme => ({ name: "Mine", looks });

describe("an imported theme", () => {
  it("follows the system with two looks, and has its one look always", () => {
    const both = theme(look(true), look(false));
    expect([lookOf(both, true)?.dark, lookOf(both, false)?.dark]).toEqual([false, true]);
    expect([lookOf(theme(look(true)), true)?.dark, lookOf(theme(look(false)), false)?.dark, lookOf(null, true), lookOf(theme(), true)]).toEqual([true, false, undefined, undefined]);
    expect([kindWords(both), kindWords(theme(look(true))), kindWords(theme(look(false)))]).toEqual(["dark and light, like the system", "dark", "light"]);
  });
  it("becomes colours and nothing else", () => {
    const hostile = look(true, { "bg-1": "#0a0b0c", "x}*{": "#000000", "bg-2": "red; } * { background: url(//evil)", "BG": "#000000", "fg-1": "#FFF", "ansi-3": "#ABCDEF" });
    expect(tokensOf(hostile)).toEqual([["--bg-1", "#0a0b0c"]]);
    expect(ruleOf(hostile)).toBe(":root[data-own-theme] { color-scheme: dark; --bg-1: #0a0b0c; }");
  });
  it("is kept for the next start, and nothing that is none", () => {
    expect(parseTheme(JSON.stringify(theme(look(true))))).toEqual(theme(look(true)));
    for (const bad of ["", "{", "null", "[]", "{}", '{"name":1,"looks":[{}]}', '{"name":"x","looks":[]}', '{"name":"x","looks":[{"dark":1}]}', '{"name":"x","looks":[null]}']) expect(parseTheme(bad), bad).toBeNull();
  });
});
