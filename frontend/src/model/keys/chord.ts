// A key with its modifiers: as the configuration writes it, as a browser reports it, and
// as a person reads it.

export type Platform = "mac" | "linux" | "windows";

/** The part of a browser's event that tells keys apart. */
export type Press = { key: string; code: string; ctrlKey: boolean; shiftKey: boolean; altKey: boolean; metaKey: boolean };

/** key: a capital letter, a digit, another character, or a name of NAMED. */
export type Chord = { ctrl: boolean; alt: boolean; shift: boolean; meta: boolean; key: string };

/** Names of keys in the configuration, and how browsers call them. */
const NAMED: Record<string, string> = {
  Enter: "Enter", Escape: "Escape", Tab: "Tab", Space: " ", Backspace: "Backspace", Delete: "Delete", Insert: "Insert",
  Home: "Home", End: "End", PageUp: "PageUp", PageDown: "PageDown", Up: "ArrowUp", Down: "ArrowDown", Left: "ArrowLeft", Right: "ArrowRight",
  ...Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`F${i + 1}`, `F${i + 1}`])),
};
const BY_EVENT = new Map(Object.entries(NAMED).map(([name, key]) => [key, name]));
const BY_LOWER = new Map(Object.keys(NAMED).map((name) => [name.toLowerCase(), name]));

/** The characters of a US keyboard by place, for keys that are named with Shift. */
const PLACES: Record<string, string> = {
  BracketLeft: "[", BracketRight: "]", Comma: ",", Period: ".", Slash: "/", Semicolon: ";", Quote: "'", Backquote: "`", Minus: "-", Equal: "=", Backslash: "\\",
};

export const isLetter = (key: string) => /^[A-Z]$/.test(key);
export const isDigit = (key: string) => /^[0-9]$/.test(key);
/** Whether the key writes a character when no modifier but Shift is down. */
export const isCharacter = (c: Chord) => [...c.key].length === 1 || c.key === "Space";
/** Whether Shift is a part of the chord. Of other characters it chooses which one. */
const countsShift = (key: string) => isLetter(key) || isDigit(key) || key.length > 1;

/** The name of an event's key, or "" for one that has none, such as a modifier or a dead key. */
export function nameOf(e: Press, mac: boolean): string {
  const named = BY_EVENT.get(e.key);
  if (named) return named;
  if (/^[a-z]$/i.test(e.key)) return e.key.toUpperCase();
  // A key of another script, and one that Option turns into a sign, counts by its place.
  const byPlace = (e.key.length === 1 && e.key.charCodeAt(0) > 127) || e.key === "Dead" || (mac && e.altKey);
  const place = byPlace ? /^(?:Key([A-Z])|Digit([0-9]))$/.exec(e.code) : null;
  if (place) return place[1] ?? place[2] ?? "";
  return [...e.key].length === 1 && e.key > " " && e.key !== "\u007f" ? e.key : "";
}

/** The chord of an event. null: it has no name of its own. */
export function chordOf(e: Press, mac: boolean): Chord | null {
  const key = nameOf(e, mac);
  return key ? { ctrl: e.ctrlKey, alt: e.altKey, meta: e.metaKey, shift: e.shiftKey && countsShift(key), key } : null;
}

export function matches(c: Chord, e: Press, mac: boolean): boolean {
  if (c.ctrl !== e.ctrlKey || c.alt !== e.altKey || c.meta !== e.metaKey) return false;
  if (countsShift(c.key)) return c.shift === e.shiftKey && nameOf(e, mac) === c.key;
  return c.shift ? e.shiftKey && PLACES[e.code] === c.key : nameOf(e, mac) === c.key;
}

export const same = (a: Chord, b: Chord) => a.key === b.key && a.ctrl === b.ctrl && a.alt === b.alt && a.meta === b.meta && a.shift === b.shift;

/** Reads "Mod+Shift+P". Mod is Cmd on a Mac and Ctrl elsewhere. null: it is no key. */
export function parse(text: string, platform: Platform): Chord | null {
  const c: Chord = { ctrl: false, alt: false, shift: false, meta: false, key: "" };
  let rest = text;
  for (let m = MODIFIER.exec(rest); m; m = MODIFIER.exec(rest)) {
    const word = (m[1] ?? "").toLowerCase();
    const part = word === "mod" ? (platform === "mac" ? "meta" : "ctrl") : word === "cmd" ? "meta" : (word as "ctrl" | "alt" | "shift");
    if (c[part]) return null;
    c[part] = true;
    rest = rest.slice(m[0].length);
  }
  const key = [...rest].length === 1 ? (/^[a-z]$/i.test(rest) ? rest.toUpperCase() : rest > " " && rest <= "~" ? rest : "") : (BY_LOWER.get(rest.toLowerCase()) ?? "");
  return key ? { ...c, key } : null;
}
const MODIFIER = /^(Mod|Ctrl|Alt|Shift|Cmd)\+(?=.)/i;

/** Writes a chord for the configuration. The platform's own modifier becomes Mod, so that the text means the same on each. */
export function write(c: Chord, platform: Platform): string {
  const mac = platform === "mac";
  return [(mac ? c.meta : c.ctrl) && "Mod", mac && c.ctrl && "Ctrl", !mac && c.meta && "Cmd", c.alt && "Alt", c.shift && "Shift", c.key].filter(Boolean).join("+");
}

const SHOWN: Record<string, string> = { Up: "↑", Down: "↓", Left: "←", Right: "→", PageUp: "PgUp", PageDown: "PgDn", Escape: "Esc", Delete: "Del", "-": "−" };

/** A chord as it stands on the person's keyboard. */
export function shown(c: Chord, platform: Platform): string {
  const bare = !c.ctrl && !c.alt && !c.meta && !c.shift;
  const key = SHOWN[c.key] ?? (bare && isLetter(c.key) ? c.key.toLowerCase() : c.key);
  if (platform === "mac") return [c.ctrl && "⌃", c.meta && "⌘", c.alt && "⌥", c.shift && "⇧", key].filter(Boolean).join("");
  return [c.ctrl && "Ctrl", c.meta && "Meta", c.alt && "Alt", c.shift && "Shift", key].filter(Boolean).join(" ");
}

/** A chord in the words of aria-keyshortcuts. */
export function aria(c: Chord): string {
  return [c.ctrl && "Control", c.meta && "Meta", c.alt && "Alt", c.shift && "Shift", NAMED[c.key] === " " ? "Space" : c.key === "+" ? "Plus" : (NAMED[c.key] ?? c.key)].filter(Boolean).join("+");
}
