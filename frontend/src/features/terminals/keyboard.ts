// Keys and pastes of one terminal. xterm.js has only one key handler: a second one would
// replace the one here.
import type { Terminal } from "@xterm/xterm";
import type { KeyAction, KeyState } from "../../model/terminals/keys";
import { keyAction } from "../../model/terminals/keys";
import { keysStore } from "../../model/keys/store";
import { readsByItself } from "../../shell/clipboard";
import { pastedFiles } from "../../session/bring";
import { reportsMouse } from "./core";
import { PLATFORM } from "../../ui/keys";

/** run carries out an action of the table. layout gets the other keys first, and returns true for one that it took. */
export type KeyTaker = { state(): KeyState; run(action: KeyAction): void; layout(e: KeyboardEvent): boolean };

export function takeKeys(term: Terminal, taker: KeyTaker) {
  term.attachCustomKeyEventHandler((e) => {
    const action = keyAction(e, keysStore.getState().map, taker.state());
    switch (action) {
      case "pass":
        if (e.type !== "keydown" || e.isComposing || e.keyCode === 229 || !taker.layout(e)) return true;
        break;
      case "browser":
        return false; // Tab moves the focus
      case "page":
        return false; // the page's own shortcuts get these keys as the event bubbles
      case "paste":
        // A browser pastes by itself, without asking for permission.
        if (!readsByItself()) return false;
        taker.run(action);
        break;
      default:
        taker.run(action);
    }
    e.preventDefault();
    e.stopPropagation();
    return false;
  });
}

const WEBKIT_LINUX = PLATFORM === "linux" && /AppleWebKit/.test(navigator.userAgent) && !/Chrome|Chromium/.test(navigator.userAgent);
const NATIVE_MS = 60; // the longest wait for the browser's own paste after a middle click

/** Turns pastes of every kind into calls of onText or onFiles. xterm.js sees none of them. */
export function takePastes(host: HTMLElement, term: Terminal, o: { onText(text: string): void; onFiles(files: File[]): void; primary(): string }): () => void {
  let middle = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const mine = (e: MouseEvent) => reportsMouse(term) && !e.shiftKey; // whether the program gets the click
  function onPaste(e: ClipboardEvent) {
    if (e.target instanceof HTMLInputElement) return; // the search box
    e.stopPropagation();
    const byMiddle = performance.now() - middle < NATIVE_MS * 2;
    clearTimeout(timer);
    if (byMiddle && WEBKIT_LINUX && !reportsMouse(term) && e.target === term.textarea) return takeInserted(term.textarea);
    e.preventDefault();
    if (byMiddle && reportsMouse(term)) return;
    const files = pastedFiles(e.clipboardData);
    const text = e.clipboardData?.getData("text/plain") ?? "";
    if (files.length > 0) o.onFiles(files);
    else if (text !== "") o.onText(text);
    else if (byMiddle) o.onText(o.primary());
  }
  /** Takes the text that WebKitGTK inserts after a middle click. Its paste event has the clipboard's text instead. */
  function takeInserted(area: HTMLTextAreaElement) {
    area.value = "";
    const onInput = (i: Event) => {
      if (i.target !== area) return;
      stop();
      i.stopPropagation(); // no other listener may see it, nor the guard of input methods
      const text = area.value;
      area.value = "";
      if (text) o.onText(text);
    };
    const stop = () => window.removeEventListener("input", onInput, true);
    window.addEventListener("input", onInput, true);
    setTimeout(stop, NATIVE_MS);
  }
  function onUp(e: MouseEvent) {
    if (e.button !== 1 || mine(e)) return;
    middle = performance.now();
    // A system with a primary selection pastes it by itself, which cancels this timer.
    clearTimeout(timer);
    timer = setTimeout(() => {
      const text = o.primary();
      if (text) o.onText(text);
    }, NATIVE_MS);
  }
  host.addEventListener("paste", onPaste, true);
  host.addEventListener("mouseup", onUp, true);
  return () => {
    clearTimeout(timer);
    host.removeEventListener("paste", onPaste, true);
    host.removeEventListener("mouseup", onUp, true);
  };
}
