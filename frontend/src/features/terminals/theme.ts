// The colours of terminals, from the page's tokens.
import type { ITheme } from "@xterm/xterm";
import type { TerminalColors } from "../../api/terminal-messages";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "brightBlack", "brightRed", "brightGreen", "brightYellow", "brightBlue", "brightMagenta", "brightCyan", "brightWhite"] as const;

export function terminalTheme(el: Element = document.documentElement): ITheme {
  const css = getComputedStyle(el);
  const v = (name: string) => css.getPropertyValue(name).trim();
  const theme: ITheme = {
    background: v("--term-bg"), foreground: v("--term-fg"), cursor: v("--term-cursor"), cursorAccent: v("--term-bg"),
    selectionBackground: v("--term-select"), selectionInactiveBackground: v("--term-select-off"),
    scrollbarSliderBackground: v("--term-thumb"), scrollbarSliderHoverBackground: v("--term-thumb-2"), scrollbarSliderActiveBackground: v("--term-thumb-2"), overviewRulerBorder: v("--term-bg"),
  };
  NAMES.forEach((name, i) => (theme[name] = v(`--ansi-${i}`)));
  return theme;
}

/** The colours that the session reports to programs. */
export function toldColors(t: ITheme = terminalTheme()): TerminalColors | null {
  const [foreground, background, cursor] = [t.foreground, t.background, t.cursor ?? t.foreground].map(hexColor);
  return foreground && background ? { foreground, background, cursor: cursor ?? foreground } : null;
}

/** Makes #rrggbb of #rgb or #rrggbb. null: css is neither. */
export function hexColor(css: string | undefined): string | null {
  const c = (css ?? "").toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(c)) return c;
  return /^#[0-9a-f]{3}$/.test(c) ? c.replace(/[0-9a-f]/g, "$&$&") : null;
}

/** The colours of search hits and of the marks of commands. */
export function terminalInk(el: Element = document.documentElement) {
  const css = getComputedStyle(el);
  const v = (name: string) => css.getPropertyValue(name).trim();
  return { found: v("--term-found"), foundHere: v("--term-found-here"), done: v("--done"), fail: v("--fail"), work: v("--work"), quiet: v("--fg-3") };
}

/** Calls f when the page's theme, contrast or terminal colours change. The returned function stops it. */
export function onThemeChange(f: () => void): () => void {
  const o = new MutationObserver(f);
  o.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-contrast", "data-terminal-colors", "data-own-theme"] });
  return () => o.disconnect();
}

/** Loads the fonts of symbols. A glyph that is drawn before its font is there stays as it was drawn. */
export const loadSymbols = (size: number): Promise<unknown> => document.fonts.load(`${size}px "Loop Symbols"`, "⏵⎿");

/** The list of fonts: the person's own, the bundled one, then fonts for the characters that it lacks. */
export function fontStack(own: string): string {
  const clean = own.replace(/[;{}<>]/g, "").trim();
  return [clean, '"JetBrains Mono Variable"', '"JetBrains Mono"', '"Symbols Nerd Font Mono"', '"Noto Sans Mono CJK SC"', '"Sarasa Mono SC"', "ui-monospace", '"Loop Symbols"', "monospace"].filter(Boolean).join(", ");
}
