// Traces of input methods: the events that a browser reports, and the text that the program must get.
import { describe, expect, it } from "vitest";
import type { ImeEngine, ImeEvent } from "./ime";
import { ImeGuard } from "./ime";

const key = (keyCode = 229): ImeEvent => ({ type: "keydown", keyCode });
const start = (data = ""): ImeEvent => ({ type: "compositionstart", data });
const update = (data: string): ImeEvent => ({ type: "compositionupdate", data });
const end = (data: string): ImeEvent => ({ type: "compositionend", data });
const input = (inputType: string, data: string, isComposing = false): ImeEvent => ({ type: "input", inputType, data, isComposing });
const wait = (ms: number) => ms;

/** Plays a trace. For an event that xterm.js sees, it adds the text that xterm.js would send. */
function play(engine: ImeEngine, trace: (ImeEvent | number)[]) {
  const g = new ImeGuard(engine);
  let now = 0;
  let sent = "";
  let preedit = "";
  for (const e of trace) {
    if (typeof e === "number") {
      now += e;
      continue;
    }
    const s = g.feed(e, now);
    sent += s.send;
    preedit = s.preedit;
    if (!s.stop && e.type === "input" && e.inputType === "insertText") sent += e.data;
    if (!s.stop && e.type === "keydown" && e.keyCode === 13) sent += "\r";
    now += 1;
  }
  return { sent, preedit };
}

describe("WebKitGTK", () => {
  it.each<[string, (ImeEvent | number)[], string]>([
    ["fcitx5: pinyin, one phrase", [key(), input("insertCompositionText", "n", true), start(), update("n"), key(), update("ni"), key(), end("你"), input("insertText", "你")], "你"],
    ["fcitx5: the text arrives before the end", [key(), start(), update("ni"), key(), input("insertFromComposition", "你"), end("你")], "你"],
    ["fcitx5: the text arrives after the end", [key(), start(), update("ni"), key(), end("你"), input("insertFromComposition", "你")], "你"],
    ["an end without text", [key(), start(), update("ni"), input("insertFromComposition", "你好"), end("")], "你好"],
    ["the same phrase twice", [key(), start(), update("ma"), end("妈"), input("insertText", "妈"), key(), start(), update("ma"), end("妈"), input("insertText", "妈")], "妈妈"],
    ["three phrases without a pause", ["甲", "乙", "丙"].flatMap((c) => [key(), start(), update(c), key(), end(c), input("insertText", c)]), "甲乙丙"],
    ["full-width punctuation, no composition", [key(), input("insertText", "。")], "。"],
    ["the same with an end of its own", [key(), input("insertText", "。"), end("。")], "。"],
    ["IBus: an accented letter as an end without a start", [key(), end("ő"), input("insertText", "ő")], "ő"],
    ["the same accented letter twice", [key(), end("ő"), input("insertText", "ő"), key(), end("ő"), input("insertText", "ő")], "őő"],
    ["given up", [key(), start(), update("ni"), key(), end("")], ""],
    ["plain typing", [key(65), input("insertText", "a"), key(65), input("insertText", "a")], "aa"],
    ["Enter after a phrase", [key(), start(), update("ni"), end("你"), input("insertText", "你"), key(13)], "你\r"],
    ["emoji from a picker", [wait(500), input("insertText", "😀")], "😀"],
    ["focus lost while composing", [key(), start(), update("ni"), { type: "blur" }, key(65), input("insertText", "a")], "a"],
  ])("%s", (_, trace, want) => expect(play("webkitgtk", trace).sent).toBe(want));

  it("shows what is composed", () => {
    expect(play("webkitgtk", [key(), start(), update("ni hao")]).preedit).toBe("ni hao");
    expect(play("webkitgtk", [key(), start(), update("ni"), end("你")]).preedit).toBe("");
  });
});

describe("WKWebView", () => {
  const jamo = [key(), input("insertText", "ㅇ"), key(), input("insertReplacementText", "아"), key(), input("insertReplacementText", "안"), key(), input("insertText", "ㄴ"), key(), input("insertReplacementText", "녀"), key(), input("insertReplacementText", "녕")];
  it.each<[string, (ImeEvent | number)[], string]>([
    ["Korean, then Enter", [...jamo, key(13)], "안녕\r"],
    ["Korean, then a letter", [...jamo, key(65), input("insertText", "a")], "안녕a"],
    ["Korean, then away", [...jamo, { type: "blur" }], "안녕"],
    ["a final consonant that moves on", [key(), input("insertText", "ㄱ"), key(), input("insertReplacementText", "각"), key(), input("insertReplacementText", "가"), input("insertText", "기"), key(13)], "가기\r"],
    ["Latin as ever", [key(65), input("insertText", "a")], "a"],
  ])("%s", (_, trace, want) => expect(play("wkwebview", trace).sent).toBe(want));
  it("leaves compositions that have events to xterm.js", () => {
    const g = new ImeGuard("wkwebview");
    for (const e of [start(), update("に"), input("insertCompositionText", "に", true), end("に")]) expect(g.feed(e, 0)).toMatchObject({ stop: false, send: "" });
  });
});
