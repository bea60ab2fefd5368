// The person's own colours of terminals, from the settings. They replace the page's tokens,
// so the pane and the answers to programs have the same colours.
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const TOKENS: Record<string, string[]> = {
  background: ["--term-bg"], foreground: ["--term-fg"], cursor: ["--term-cursor"], selection: ["--term-select", "--term-select-off"],
  ...Object.fromEntries(NAMES.flatMap((n, i) => [[n, [`--ansi-${i}`]], [`bright_${n}`, [`--ansi-${i + 8}`]]])),
};
const ENTRY = /^(?:(dark|light)\.)?([a-z_]+)=(#[0-9a-fA-F]{6})$/;

/** Tokens with their values for one theme. An entry for that theme alone wins; of equal entries the last one does. */
export function ownTokens(colors: readonly string[], theme: string): Map<string, string> {
  const out = new Map<string, string>();
  for (const alone of [false, true]) {
    for (const c of colors) {
      const m = ENTRY.exec(c);
      const tokens = m?.[2] && Object.hasOwn(TOKENS, m[2]) ? TOKENS[m[2]] : undefined;
      if (!m || !tokens || Boolean(m[1]) !== alone || (m[1] && m[1] !== theme)) continue;
      for (const t of tokens) out.set(t, m[3] ?? "");
    }
  }
  return out;
}

let colors: readonly string[] = [];
let watch: MutationObserver | undefined;

export function setOwnColors(list: readonly string[]) {
  if (list.join() === colors.join()) return;
  colors = list;
  const root = document.documentElement;
  const put = () => {
    for (const tokens of Object.values(TOKENS)) for (const t of tokens) root.style.removeProperty(t);
    for (const [t, v] of ownTokens(colors, root.dataset.theme ?? "dark")) root.style.setProperty(t, v);
    root.dataset.terminalColors = colors.join(" "); // onThemeChange watches this attribute
  };
  put();
  watch?.disconnect();
  watch = new MutationObserver(put);
  watch.observe(root, { attributes: true, attributeFilter: ["data-theme"] });
}
