import { beforeEach, expect, it } from "vitest";
import type { BrowserState, BrowserTab } from "../../api/browser-messages";
import { isStale, pickedHere, pickedStore, referencesIn, sawState, withoutReference } from "./reference";

const WORDS = "[alert “Too many attempts.” div.alert ref 12]";
const tab = (target_id: string, url: string, more: Partial<BrowserTab> = {}) => ({ target_id, url, title: "", active: true, loading: false, ...more }) as BrowserTab;
const state = (...tabs: BrowserTab[]) => ({ phase: "running", tabs }) as unknown as BrowserState;
const stale = () => isStale(pickedStore.getState().c, WORDS);
const saw = (...tabs: BrowserTab[]) => sawState("c", state(...tabs));

beforeEach(() => pickedStore.setState({ c: undefined }));

it("finds the elements that a prompt names, each once", () => {
  const text = `Move ${WORDS} below [textbox input[name=q] ref 3], not ${WORDS}. [link “a”] and [1] stay.`;
  expect(referencesIn(text)).toEqual([{ words: WORDS, label: "alert “Too many attempts.”", ref: "ref 12" }, { words: "[textbox input[name=q] ref 3]", label: "textbox", ref: "ref 3" }]);
  expect(withoutReference(`a ${WORDS} b ${WORDS}`, WORDS)).toBe("a b ");
  expect(referencesIn("")).toEqual([]);
});

it("knows when the document of an element is gone", () => {
  const first = tab("t", "http://x/a");
  saw(first);
  pickedHere("c", WORDS, state(first));
  expect(stale()).toBe(false);
  saw(tab("t", "http://x/a#part"));
  expect(stale()).toBe(false);
  saw(tab("t", "http://x/a#part", { active: false }), tab("u", "http://y/", { loading: true })); // another tab is in front
  expect(stale()).toBe(false);
  saw(tab("t", "http://x/a#part", { loading: true })); // loaded again
  expect(stale()).toBe(true);
  saw(tab("t", "http://x/a"));
  expect(stale()).toBe(true);
});

it("counts another address, a closed tab and an ended browser as gone, and does not guess", () => {
  for (const then of [() => saw(tab("t", "http://x/b")), () => saw(tab("u", "http://x/a")), () => sawState("c", { phase: "crashed", tabs: [] } as unknown as BrowserState)]) {
    pickedStore.setState({ c: undefined });
    saw(tab("t", "http://x/a"));
    pickedHere("c", WORDS, state(tab("t", "http://x/a")));
    then();
    expect(stale()).toBe(true);
  }
  expect(isStale(pickedStore.getState().c, "[link ref 1]")).toBe(false); // typed, or of an earlier visit
  expect(isStale(undefined, WORDS)).toBe(false);
});
