// Puts model/terminals/ime.ts between the browser and xterm.js, on WebKit only.
import type { Terminal } from "@xterm/xterm";
import type { ImeEngine, ImeEvent } from "../../model/terminals/ime";
import { ImeGuard } from "../../model/terminals/ime";
import { cellSize } from "./core";

export function imeEngine(ua = navigator.userAgent): ImeEngine | null {
  if (!/AppleWebKit/.test(ua) || /Chrome|Chromium|Edg\//.test(ua)) return null;
  return /Macintosh|Mac OS X/.test(ua) ? "wkwebview" : "webkitgtk";
}

/** Listens above xterm.js in the capture phase, so that xterm.js's own listeners come later. */
export function guardIme(host: HTMLElement, term: Terminal, engine: ImeEngine): () => void {
  const guard = new ImeGuard(engine);
  const shown = document.createElement("div");
  shown.className = "term-preedit";
  shown.setAttribute("aria-hidden", "true");
  shown.hidden = true;

  function place(text: string) {
    shown.hidden = text === "";
    shown.textContent = text;
    if (text === "") return;
    const screen = term.element?.querySelector<HTMLElement>(".xterm-screen");
    if (screen && shown.parentElement !== screen) screen.append(shown);
    const { width, height } = cellSize(term);
    const { cursorX, cursorY } = term.buffer.active;
    shown.style.cssText = `left:${cursorX * width}px;top:${cursorY * height}px;height:${height}px;line-height:${height}px;font-family:${term.options.fontFamily};font-size:${term.options.fontSize}px`;
  }

  function feed(e: Event, ev: ImeEvent) {
    if (e.target !== term.textarea) return;
    const step = guard.feed(ev, performance.now());
    if (step.stop) e.stopPropagation();
    if (step.send) term.input(step.send, true);
    // The browser owns the field's text until the event has ended, so it is emptied after that.
    if (step.clear) setTimeout(() => term.textarea && shown.hidden && (term.textarea.value = ""));
    place(step.preedit);
  }

  const on = {
    keydown: (e: Event) => feed(e, { type: "keydown", keyCode: (e as KeyboardEvent).keyCode }),
    compositionstart: (e: Event) => feed(e, { type: "compositionstart", data: (e as CompositionEvent).data ?? "" }),
    compositionupdate: (e: Event) => feed(e, { type: "compositionupdate", data: (e as CompositionEvent).data ?? "" }),
    compositionend: (e: Event) => feed(e, { type: "compositionend", data: (e as CompositionEvent).data ?? "" }),
    input: (e: Event) => feed(e, { type: "input", inputType: (e as InputEvent).inputType, data: (e as InputEvent).data ?? "", isComposing: (e as InputEvent).isComposing }),
    focusout: (e: Event) => feed(e, { type: "blur" }),
  };
  for (const [name, f] of Object.entries(on)) host.addEventListener(name, f, true);
  return () => {
    for (const [name, f] of Object.entries(on)) host.removeEventListener(name, f, true);
    shown.remove();
  };
}
