// The form in which a strip's tabs fit beside its tools. With less and less room the tabs
// lose their tags, then their names. Tabs that still do not fit can be scrolled to and
// chosen from a list.

/** name and words are px: the whole name, and tags and state words with their edges. marks is a count. */
export type TabSize = { name: number; words: number; marks: number; closes: boolean };
/** one: only the tab in front has room. words: the buttons show their words. path: the path has room. */
export type Fit = { form: "whole" | "untagged" | "icons" | "one"; list: boolean; plus: boolean; words: boolean; path: boolean };

// px, as in dock.css.
export const TAB_MAX = 260;
const ICON = 14;
const GAP = 8;
const MARK = 12 + GAP;
const EDGE = 31; // padding and border of a tab
const CLOSE = 12; // more padding for a tab with a cross
const SMALL_EDGE = 23; // padding and border of a tab without a name
const NAME_MIN = 36; // the least of a name that can be read
const PLUS = 28;
const LIST = 56;
const PATH_MIN = 80;
const PLUS_FROM = 320; // a narrower strip has the button in the pane's menu
const WORDS_FROM = 420;

export const WHOLE: Fit = { form: "whole", list: false, plus: true, words: true, path: true };

const sum = (all: number[]) => all.reduce((a, b) => a + b, 0);
const named = (t: TabSize, name: number, cross = t.closes) => Math.min(TAB_MAX, EDGE + (cross ? CLOSE : 0) + ICON + GAP + name + t.marks * MARK);
const icon = (t: TabSize) => SMALL_EDGE + ICON + t.marks * MARK;

/** tools: the width in px of the strip's buttons, without the plus button and the list. */
export function fit(width: number, tabs: TabSize[], active: number, tools: number): Fit {
  const plus = width >= PLUS_FROM;
  const words = width >= WORDS_FROM;
  const room = width - tools - (plus ? PLUS : 0);
  const whole = sum(tabs.map((t) => named(t, t.name + t.words)));
  if (whole <= room) return { form: "whole", list: false, plus, words, path: room - whole >= PATH_MIN };
  const front = tabs[active];
  const least = (t: TabSize) => named(t, Math.min(t.name, NAME_MIN), t.closes && t === front);
  if (sum(tabs.map(least)) <= room) return { form: "untagged", list: false, plus, words, path: false };
  const icons = sum(tabs.map((t) => (t === front ? least(t) : icon(t))));
  if (icons <= room) return { form: "icons", list: false, plus, words, path: false };
  const one = front !== undefined && room - LIST < least(front) + SMALL_EDGE + ICON;
  return { form: one ? "one" : "icons", list: true, plus, words, path: false };
}

/** Counts the tabs that the part of the strip from left to right does not show whole. */
export function unseen(tabs: { left: number; right: number }[], left: number, right: number): number {
  return tabs.filter((t) => t.left < left - 1 || t.right > right + 1).length;
}
