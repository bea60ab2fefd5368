import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Platform, Press } from "./chord";
import { aria, chordOf, matches, nameOf, parse, same, shown, write } from "./chord";
import { actionAt, chordsFor, clashes, keymapOf, lostTo, textOf } from "./keymap";
import { forbidden, isPrograms, refusal } from "./refused";
import { fixedText, found } from "./rows";
import { chooseKeys, keysStore, knowPlatform } from "./store";
import type { Action, Place } from "./table";
import { ACTIONS, defaultsOf, FIXED, PLACES } from "./table";

const PLATFORMS: Platform[] = ["mac", "linux", "windows"];
const press = (key: string, more: Partial<Press> = {}): Press => ({ key, code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : "", ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, ...more });
const chord = (text: string, p: Platform = "linux") => { const c = parse(text, p); if (!c) throw new Error(text); return c; };
const action = (id: string): Action => { const a = ACTIONS.find((x) => x.id === id); if (!a) throw new Error(id); return a; };

describe("a chord", () => {
  it.each([
    ["Mod+Shift+P", "linux", "Ctrl Shift P", "Control+Shift+P"], ["Mod+Shift+P", "mac", "⌘⇧P", "Meta+Shift+P"], ["ctrl+shift+p", "linux", "Ctrl Shift P", "Control+Shift+P"],
    ["j", "linux", "j", "J"], ["Shift+A", "linux", "Shift A", "Shift+A"], ["Alt+Up", "windows", "Alt ↑", "Alt+ArrowUp"], ["Ctrl++", "linux", "Ctrl +", "Control+Plus"], ["F24", "mac", "F24", "F24"],
    ["?", "linux", "?", "?"], ["space", "linux", "Space", "Space"], ["Cmd+Alt+Left", "mac", "⌘⌥←", "Meta+Alt+ArrowLeft"], ["Mod+.", "mac", "⌘.", "Meta+."],
  ] as const)("%s on %s is shown as %s", (text, p, words, attribute) => {
    const c = chord(text, p);
    expect([shown(c, p), aria(c)]).toEqual([words, attribute]);
    expect(same(chord(write(c, p), p), c), "written and read again").toBe(true);
  });
  it.each(["", "Ctrl", "Ctrl+", "Hyper+A", "Ctrl+Ctrl+A", "Mod+Ctrl+A", "F25", "F0", "AB", " ", "é", "\u0000", "Ctrl+😀", "Ctrl + A", "a".repeat(10_000)])("%j is none", (text) => expect(parse(text, "linux")).toBeNull());
  it("is the same after writing and reading, for each key that a browser can report", () => {
    const names = ["a", "Z", "0", "9", "+", "?", "[", "ArrowUp", " ", "Enter", "F1", "F24", "PageDown", "~", "Delete"];
    for (const p of PLATFORMS) {
      for (const key of names) {
        for (let m = 0; m < 16; m++) {
          const e = press(key, { ctrlKey: Boolean(m & 1), altKey: Boolean(m & 2), shiftKey: Boolean(m & 4), metaKey: Boolean(m & 8) });
          const c = chordOf(e, p === "mac");
          expect(c, `${key} ${m}`).not.toBeNull();
          if (!c) continue;
          expect(matches(c, e, p === "mac"), `${key} ${m} ${p}`).toBe(true);
          expect(same(chord(write(c, p), p), c), write(c, p)).toBe(true);
        }
      }
    }
  });
  it("has no name for a modifier, a dead key or one that an input method takes", () => {
    for (const key of ["Shift", "Control", "Dead", "Process", "Unidentified", "AltGraph", "\u007f"]) expect(nameOf(press(key), false)).toBe("");
  });
  it("goes by the letter, and by the place for other scripts and for Option", () => {
    expect(matches(chord("J"), press("о", { code: "KeyJ" }), false)).toBe(true);
    expect(matches(chord("J"), press("j", { code: "KeyC" }), false)).toBe(true);
    expect(matches(chord("Alt+E", "mac"), press("Dead", { code: "KeyE", altKey: true }), true)).toBe(true);
    expect(matches(chord("Alt+P", "mac"), press("π", { code: "KeyP", altKey: true }), true)).toBe(true);
    expect(matches(chord("Cmd+Shift+[", "mac"), press("{", { code: "BracketLeft", metaKey: true, shiftKey: true }), true)).toBe(true);
    expect(matches(chord("?"), press("?", { shiftKey: true }), false)).toBe(true);
    expect(matches(chord("Shift+A"), press("a"), false)).toBe(false);
    expect(matches(chord("A"), press("A"), false), "with caps lock").toBe(true);
  });
});

describe("the table", () => {
  it("has the names of the configuration", () => {
    const go = /var keyActions = strings\.Fields\(`([^`]*)`\)/.exec(readFileSync(new URL("../../../../backend/config/keyactions.go", import.meta.url), "utf8"));
    expect((go?.[1] ?? "").split(/\s+/).filter(Boolean).toSorted()).toEqual(ACTIONS.map((a) => a.id).toSorted());
  });
  it("stands in the documentation, with each name", () => {
    const text = readFileSync(new URL("../../../../docs/keys.md", import.meta.url), "utf8");
    for (const a of ACTIONS) expect(text, a.id).toContain(`\`${a.id}\``);
  });
  it.each(PLATFORMS)("has only keys, and none twice in a place, on %s", (p) => {
    const map = keymapOf(p, {});
    for (const a of ACTIONS) {
      expect(PLACES[a.place]).toBeTruthy();
      expect(defaultsOf(a, p).map((k) => parse(k, p)).every(Boolean), a.id).toBe(true);
      for (const c of chordsFor(map, a.id)) expect(clashes(map, a, c).filter((x) => x.hard), `${a.id} ${shown(c, p)}`).toEqual([]);
    }
  });
  it("has texts for the keys that stay", () => {
    expect(FIXED.map((f) => fixedText(f, "linux"))).toEqual(expect.arrayContaining(["Ctrl Enter", "1 – 9", "Esc", "@ /", "Ctrl 1 – Ctrl 9"]));
  });
});

describe("the keys in force", () => {
  const at = (map: ReturnType<typeof keymapOf>, place: Place, key: string, more?: Partial<Press>) => actionAt(map, place, press(key, more));
  it("are the person's own, and those of the table where there are none", () => {
    const map = keymapOf("linux", { "timeline.next": ["N", "Alt+J"], "page.sidebar": [] });
    expect([at(map, "timeline", "n"), at(map, "timeline", "j"), at(map, "timeline", "j", { altKey: true }), at(map, "page", "b", { ctrlKey: true })]).toEqual(["timeline.next", "", "timeline.next", ""]);
    expect([textOf(map, "timeline.next"), textOf(map, "page.sidebar"), textOf(map, "timeline.previous")]).toEqual(["n", "", "k"]);
  });
  it("give a key to whom the person gave it, and back after a reset", () => {
    const chosen = { "page.find": ["Mod+B"] };
    const map = keymapOf("linux", chosen);
    expect([at(map, "page", "b", { ctrlKey: true }), textOf(map, "page.sidebar")]).toEqual(["page.find", ""]);
    expect(lostTo(map, action("page.sidebar"), chosen)?.id).toBe("page.find");
    expect(textOf(keymapOf("linux", {}), "page.sidebar")).toBe("Ctrl B");
  });
  it("are those of the tree and of the queue, where they are the person's as well", () => {
    const map = keymapOf("linux", { "tree.remove": ["Shift+Delete"], "queue.earlier": ["Ctrl+Up"] });
    expect([at(map, "tree", "F2"), at(map, "tree", "Delete"), at(map, "tree", "Delete", { shiftKey: true })]).toEqual(["tree.rename", "", "tree.remove"]);
    expect([at(map, "queue", "ArrowUp", { altKey: true }), at(map, "queue", "ArrowUp", { ctrlKey: true }), at(map, "queue", "ArrowDown", { altKey: true })]).toEqual(["", "queue.earlier", "queue.later"]);
    expect(at(map, "page", "ArrowUp", { altKey: true }), "the rest of the page").toBe("page.previous-channel");
    const clash = (id: string, key: string) => clashes(keymapOf("linux", {}), action(id), chord(key)).map((c) => [c.id, c.hard]);
    expect([clash("tree.remove", "F2"), clash("queue.later", "Alt+Up"), clash("queue.earlier", "Mod+B")]).toEqual([[["tree.rename", true]], [["page.previous-channel", false], ["queue.earlier", true]], [["page.sidebar", false]]]);
  });
  it("never make an answer, or a way out of a terminal, of something else", () => {
    const map = keymapOf("linux", { "timeline.copy": ["Ctrl+Enter", "1", "Escape", "Tab"], "page.next-region": [], "terminal.copy": ["Ctrl+C", "A"], "prompt.plan": ["M"], "page.previous-region": ["Ctrl+G"] });
    expect(textOf(map, "timeline.copy"), "nothing usable is left, so the key of the table counts").toBe("c");
    expect([textOf(map, "page.next-region"), textOf(map, "terminal.copy"), textOf(map, "prompt.plan"), textOf(map, "page.previous-region")]).toEqual(["F6", "Ctrl Shift C", "Alt M", "Shift F6"]);
    for (const place of Object.keys(PLACES) as Place[]) {
      expect(at(map, place, "Enter", { ctrlKey: true })).toBe("");
      for (const n of "0123456789") expect(at(map, place, n)).toBe("");
    }
  });
  it("keep the way out of a terminal, whatever takes its key", () => {
    const F = (map: ReturnType<typeof keymapOf>, key: string, more?: Partial<Press>) => (Object.keys(PLACES) as Place[]).filter((p) => at(map, p, key, more) !== (p === "page" ? "page.next-region" : ""));
    const all = Object.fromEntries(ACTIONS.filter((a) => a.id !== "page.next-region").map((a) => [a.id, ["F6", "F9"]]));
    expect(F(keymapOf("linux", all), "F6")).toEqual([]);
    expect(F(keymapOf("linux", { ...all, "page.next-region": ["F9"] }), "F9"), "the person's own").toEqual([]);
    const find = keymapOf("linux", { "page.next-region": ["Ctrl+Shift+F"], "terminal.find": ["Ctrl+Shift+F"] });
    expect(F(find, "f", { ctrlKey: true, shiftKey: true }), "also where it was another action's at first").toEqual([]);
    expect(clashes(keymapOf("linux", {}), action("page.next-region"), chord("Ctrl+Shift+F")).map((c) => [c.id, c.hard])).toContainEqual(["terminal.find", true]);
    expect(textOf(keymapOf("linux", { "timeline.copy": ["F6", "Y"] }), "timeline.copy"), "the rest of a list counts").toBe("y");
  });
  it("leave what AltGr writes", () => {
    const map = keymapOf("windows", { "page.find": ["Ctrl+Alt+Q"] });
    expect(actionAt(map, "page", { ...press("q", { ctrlKey: true, altKey: true }), getModifierState: (k) => k === "AltGraph" })).toBe("");
    expect(at(map, "page", "q", { ctrlKey: true, altKey: true })).toBe("page.find");
  });
  it("are kept whatever the configuration says", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    const bits = ["Ctrl+", "Mod+", "Alt+", "Shift+", "Cmd+", "Enter", "1", "J", "F6", "", "Escape", "é", "Tab", "+", "B"];
    for (let i = 0; i < 500; i++) {
      const chosen = Object.fromEntries(Array.from({ length: random(20) }, () => [ACTIONS[random(ACTIONS.length)]?.id ?? "", Array.from({ length: random(4) }, () => Array.from({ length: random(4) }, () => bits[random(bits.length)]).join(""))]));
      for (const p of PLATFORMS) {
        const map = keymapOf(p, chosen);
        expect(chordsFor(map, "page.next-region").length, "a way out of a terminal").toBeGreaterThan(0);
        for (const [id, list] of map.chords) for (const c of list) if (chosen[id]) expect(forbidden(action(id), c)).toBe("");
      }
    }
  });
});

describe("a key that is asked for", () => {
  const why = (id: string, key: string, p: Platform = "linux", browser = false) => refusal(action(id), chord(key, p), keymapOf(p, {}), browser);
  it("is refused with the reason", () => {
    expect(why("page.find", "Mod+Enter")).toContain("allows");
    expect(why("timeline.copy", "2")).toContain("Digits");
    expect(why("timeline.copy", "Escape")).toContain("cancels");
    expect(why("page.find", "Down")).toContain("Lists");
    expect(why("prompt.plan", "Q")).toContain("writes");
    expect(why("page.find", "Mod+C")).toContain("copies");
    expect(why("terminal.find", "Ctrl+R")).toContain("Programs");
    expect(why("timeline.copy", "F6")).toContain("way out");
    expect(why("page.next-region", "F6")).toBe("");
    expect(why("page.next-region", "Ctrl+J")).toContain("out of a terminal");
    expect([why("page.find", "Mod+T", "linux", true), why("page.find", "Mod+T", "linux", false)]).toEqual(["The browser keeps it: it opens a tab.", ""]);
    expect(why("page.find", "Alt+F4")).toContain("closes the window");
    expect(why("page.find", "Cmd+H", "mac")).toContain("hides");
    expect(why("page.find", "Cmd+J")).toContain("system");
    expect(why("page.find", "Ctrl+Alt+E", "windows")).toContain("AltGr");
  });
  it("is given otherwise, and an action may always have its own key again", () => {
    expect([why("page.find", "Mod+J"), why("page.desk", "F9"), why("timeline.copy", "Y"), why("files.above", "Backspace"), why("rules.turn", "Space"), why("review.undo", "Mod+Z"), why("panes.new", "Ctrl+Shift+T", "linux", true)]).toEqual(["", "", "", "", "", "", ""]);
  });
  it("names who has it: in the same place, elsewhere, and everywhere", () => {
    const map = keymapOf("linux", {});
    const who = (id: string, key: string) => clashes(map, action(id), chord(key)).map((c) => [c.id, c.hard]);
    expect(who("timeline.copy", "J")).toEqual([["timeline.next", true]]);
    expect(who("panes.zoom", "Mod+B")).toEqual([["page.sidebar", true]]);
    expect(who("timeline.copy", "Mod+B")).toEqual([["page.sidebar", false]]);
    expect(who("page.settings", "R").every(([, hard]) => !hard)).toBe(true);
    expect(who("timeline.copy", "X")).toEqual([]);
  });
  it("is a program's in a terminal unless it is none that programs know", () => {
    for (const k of ["Ctrl+C", "Alt+B", "Escape", "F1", "J", "Up", "Ctrl+Left", "Ctrl+Alt+X", "Alt+Shift+X", "Enter", "Shift+Tab", "Ctrl+Enter"]) expect(isPrograms(chord(k)), k).toBe(true);
    for (const k of ["Ctrl+Shift+C", "Shift+PageUp", "Ctrl++", "Alt+Shift+Left", "Ctrl+PageUp", "Shift+Enter"]) expect(isPrograms(chord(k)), k).toBe(false);
    expect(isPrograms(chord("Cmd+C", "mac"))).toBe(false);
  });
});

it("a search finds by words, by place and by key", () => {
  const map = keymapOf("linux", {});
  expect(found(map, "sidebar", null).map((a) => a.id)).toContain("page.sidebar");
  expect(found(map, "ITEM link", null).map((a) => a.id)).toEqual(["timeline.link"]);
  expect(found(map, "", chord("Mod+F")).map((a) => a.id)).toEqual(["page.find", "containers.log", "browser.find"]);
  expect(found(map, "zzz", null)).toEqual([]);
});

it("the store takes what Loop has, and forgets nothing when the system is known", () => {
  chooseKeys({ "page.find": ["F9"], "page.stop": null });
  knowPlatform("mac");
  expect([textOf(keysStore.getState().map, "page.find"), textOf(keysStore.getState().map, "page.stop")]).toEqual(["F9", ""]);
  knowPlatform("linux");
  chooseKeys({});
  expect(textOf(keysStore.getState().map, "page.stop")).toBe("Ctrl .");
});
