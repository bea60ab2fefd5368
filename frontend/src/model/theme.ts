// Imported themes: which look is worn, and its colours as styles. Loop has checked them; they
// are checked once more, since a style can do more than colour.
import type { Theme, ThemeLook } from "../api/types";

const TOKEN = /^[a-z0-9-]{1,32}$/;
const COLOUR = /^#[0-9a-f]{6}$/;

/** The look of a theme for a dark or a light system. A theme with one look wears that always. */
export function lookOf(theme: Theme | null | undefined, light: boolean): ThemeLook | undefined {
  const looks = theme?.looks ?? [];
  return looks.find((l) => l.dark === !light) ?? looks[0];
}

/** The tokens of a look as custom properties. What is no colour of a token is left out. */
export function tokensOf(look: ThemeLook): [string, string][] {
  return Object.entries(look.colors ?? {}).filter(([t, c]) => TOKEN.test(t) && COLOUR.test(c)).map(([t, c]) => [`--${t}`, c]);
}

/** A rule that has the page wear a look. It is stronger than the page's own looks. */
export const ruleOf = (look: ThemeLook): string => `:root[data-own-theme] { color-scheme: ${look.dark ? "dark" : "light"}; ${tokensOf(look).map(([t, c]) => `${t}: ${c};`).join(" ")} }`;

/** Reads a theme that the page kept for its next first paint. */
export function parseTheme(text: string): Theme | null {
  try {
    const t: unknown = JSON.parse(text || "null");
    const isLook = (l: unknown) => typeof l === "object" && l !== null && typeof (l as ThemeLook).dark === "boolean" && typeof (l as ThemeLook).colors === "object";
    const looks = (t as Theme | null)?.looks;
    return typeof (t as Theme | null)?.name === "string" && Array.isArray(looks) && looks.length > 0 && looks.every(isLook) ? (t as Theme) : null;
  } catch {
    return null;
  }
}

export const OWN_THEMES = [["system", "Like the system"], ["dark", "Dark"], ["light", "Light"]] as const;

/** The kinds of a theme's looks, in words. */
export function kindWords(t: Theme): string {
  const looks = t.looks ?? [];
  return looks.length > 1 ? "dark and light, like the system" : looks[0]?.dark ? "dark" : "light";
}

/** The longest text of a theme, in bytes. */
export const MAX_THEME = 1 << 20;
