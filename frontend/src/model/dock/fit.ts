// What of a strip's tabs fits beside its tools. With less and less room tabs give up
// their tags, then their names; what still does not fit is scrolled to, and listed in words.

/** In px: the whole name, tags and state words with their edges; marks are counted. */
export type TabSize = { name: number; words: number; marks: number; closes: boolean };
/** one: nothing but the tab in front has a place; words: buttons have theirs. */
export type Fit = { form: "whole" | "untagged" | "icons" | "one"; list: boolean; plus: boolean; words: boolean; path: boolean };

// As in dock.css.
export const TAB_MAX = 260;
const ICON = 14;
const GAP = 8;
const MARK = 12 + GAP;
const EDGE = 31; // padding and line of a tab
const CLOSE = 12; // more padding where a cross is
const SMALL_EDGE = 23; // of one without a name
const NAME_MIN = 36; // of which something can be read
const PLUS = 28;
const LIST = 56;
const PATH_MIN = 80;
const PLUS_FROM = 320; // narrower strips have it in the menu of the pane
const WORDS_FROM = 420;

export const WHOLE: Fit = { form: "whole", list: false, plus: true, words: true, path: true };

const sum = (all: number[]) => all.reduce((a, b) => a + b, 0);
const named = (t: TabSize, name: number, cross = t.closes) => Math.min(TAB_MAX, EDGE + (cross ? CLOSE : 0) + ICON + GAP + name + t.marks * MARK);
const icon = (t: TabSize) => SMALL_EDGE + ICON + t.marks * MARK;

/** tools: px that the buttons of the strip take, without the plus button and the list. */
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

/** How many of the tabs cannot be seen as a whole in the part of the strip from left to right. */
export function unseen(tabs: { left: number; right: number }[], left: number, right: number): number {
  return tabs.filter((t) => t.left < left - 1 || t.right > right + 1).length;
}
