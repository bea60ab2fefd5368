import type { KeyboardEvent, PointerEvent } from "react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import { firstView } from "../../api/browser-messages";
import type { Keystroke } from "../../model/browser/keystroke";
import { keyInput, meansOf, modifiersOf } from "../../model/browser/keystroke";
import { percentOf, placed, pointOf, viewportOf } from "../../model/browser/place";
import { composing, isMac, useKeyText } from "../../ui/keys";
import { Cards } from "./Cards";
import { Notice } from "./Notice";
import { Deed, Picked } from "./Overlay";
import { PagePopup } from "./PagePopup";
import type { BrowserPane } from "./pane";
import { elementToPrompt } from "./prompting";
import { keysStore } from "../../model/keys/store";

const BUTTONS = ["left", "middle", "right"];
const BACK = 3; // the buttons of a mouse that go back and forward
const FORWARD = 4;
const LINE = 16; // pixels of a wheel's line

const stroke = (e: KeyboardEvent): Keystroke => ({
  key: e.key, code: e.code, keyCode: e.keyCode, altKey: e.altKey, ctrlKey: e.ctrlKey, metaKey: e.metaKey, shiftKey: e.shiftKey, altGraph: e.getModifierState("AltGraph"),
});
const held = (e: { altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }) =>
  modifiersOf({ altKey: e.altKey, ctrlKey: e.ctrlKey, metaKey: e.metaKey, shiftKey: e.shiftKey, altGraph: false }, isMac);

/** The page: its picture, what the agent does on it, and the person's hands. */
export function Surface({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const typing = useRef<HTMLTextAreaElement>(null);
  const clicks = useRef({ at: 0, x: 0, y: 0, count: 0 });
  const down = useRef(false);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [caret, setCaret] = useState({ left: 0, top: 0 }); // where an input method shows its choices
  const leaves = useKeyText()("page.next-region");
  const link = useStore(pane.store, (s) => s.link);
  const painted = useStore(pane.store, (s) => s.painted);
  const picking = useStore(pane.store, (s) => s.picking);
  const device = useStore(pane.store, (s) => s.device);
  const view = state?.view ?? firstView;
  const running = state?.phase === "running" && link === "open";
  const framed = device !== "fit";
  const box = placed(view, size.width ? size : view, framed);
  const by = percentOf(box, view);

  useEffect(() => {
    const el = canvas.current;
    return el ? pane.begin(el) : undefined;
  }, [pane]);
  useEffect(() => {
    pane.know(typing.current);
    return () => pane.know(null);
  }, [pane]);
  useEffect(() => {
    const el = host.current;
    if (!el) return;
    const see = () => pane.see(el.clientWidth > 0 && document.visibilityState === "visible");
    const watch = new ResizeObserver(() => {
      setSize({ width: el.clientWidth, height: el.clientHeight });
      pane.resized(el.clientWidth, el.clientHeight);
      see();
    });
    watch.observe(el);
    document.addEventListener("visibilitychange", see);
    return () => {
      watch.disconnect();
      document.removeEventListener("visibilitychange", see);
    };
  }, [pane]);

  useEffect(() => pane.store.setState({ scale: framed ? by : 100 }), [pane, framed, by]);

  const inPane = (e: { clientX: number; clientY: number }, el: HTMLElement) => {
    const edge = el.getBoundingClientRect(); // with the border, which the page is inside of
    return { x: e.clientX - edge.left - el.clientLeft, y: e.clientY - edge.top - el.clientTop };
  };
  const at = (e: { clientX: number; clientY: number }) => (host.current ? pointOf(inPane(e, host.current), box, viewportOf(view), down.current) : null);
  // React listens to the wheel passively, so that nothing could keep the panel still.
  const onWheel = useEffectEvent((e: WheelEvent) => {
    const p = at(e);
    if (!p || !running) return;
    e.preventDefault();
    if (isMac ? e.metaKey : e.ctrlKey) {
      if (e.deltaY !== 0) pane.zoom(e.deltaY < 0 ? 1 : -1);
      return;
    }
    const unit = e.deltaMode === 1 ? LINE : e.deltaMode === 2 ? view.height : 1;
    pane.input({ kind: "scroll", ...p, delta_x: e.deltaX * unit, delta_y: e.deltaY * unit, modifiers: held(e) });
  });
  useEffect(() => {
    const el = host.current;
    const roll = (e: WheelEvent) => onWheel(e);
    el?.addEventListener("wheel", roll, { passive: false });
    return () => el?.removeEventListener("wheel", roll);
  }, []);

  function onPointer(e: PointerEvent<HTMLDivElement>, kind: "mousedown" | "mouseup" | "mousemove") {
    // A card over the page, or a menu, whose events come here by React's tree alone.
    if (!(e.target instanceof Element) || e.target.closest(".browser-over") || !e.currentTarget.contains(e.target)) return;
    const p = at(e);
    if (!p || !running) return;
    if (picking) {
      if (kind === "mousedown") {
        e.preventDefault();
        void pane.look(p).then((t) => t && elementToPrompt(pane, t));
      } else if (kind === "mousemove") void pane.look(p);
      return;
    }
    if (e.pointerType !== "touch" && (e.button === BACK || e.button === FORWARD)) {
      e.preventDefault();
      if (kind === "mousedown") void pane.act(e.button === BACK ? "go_back" : "go_forward");
      return;
    }
    if (kind === "mousedown") {
      e.preventDefault(); // the keyboard stays with the page
      typing.current?.focus({ preventScroll: true });
      e.currentTarget.setPointerCapture(e.pointerId);
      down.current = true;
      const c = clicks.current;
      const again = e.timeStamp - c.at < 500 && Math.hypot(p.x - c.x, p.y - c.y) < 5;
      clicks.current = { at: e.timeStamp, x: p.x, y: p.y, count: again ? c.count + 1 : 1 };
      const place = inPane(e, e.currentTarget);
      setCaret({ left: place.x, top: place.y });
      pane.store.setState({ pressed: p });
    }
    if (e.pointerType === "touch") {
      pane.input({ kind: "touch", ...p, button: kind === "mousedown" ? "start" : kind === "mouseup" ? "end" : "move", modifiers: held(e) });
    } else {
      const button = kind === "mousemove" ? (e.buttons & 1 ? "left" : e.buttons & 2 ? "right" : e.buttons & 4 ? "middle" : "") : (BUTTONS[e.button] ?? "left");
      pane.input({ kind, ...p, button, click_count: kind === "mousemove" ? 0 : clicks.current.count, modifiers: held(e) });
    }
    if (kind === "mouseup") down.current = false;
  }

  function onPickKey(e: KeyboardEvent): boolean {
    const { picked } = pane.store.getState();
    if (e.key === "Escape") pane.toggle("picking");
    else if (e.key === "Enter" && picked) elementToPrompt(pane, picked);
    else if (e.key === "ArrowUp") void pane.climb("parent_of");
    else if (e.key === "ArrowDown") void pane.climb("child_of");
    else return false;
    return true;
  }

  function onKey(e: KeyboardEvent, pressed: boolean) {
    if (composing(e) || !running) return;
    const k = stroke(e);
    const means = meansOf(k, keysStore.getState().map);
    if (means === "app" || means === "baton" || means === "pick") return; // the panel's kind has these for all of the page
    const stay = () => {
      e.preventDefault();
      e.stopPropagation();
    };
    if (picking && pressed && onPickKey(e)) return stay();
    switch (means) {
      case "find": case "reload": case "back": case "forward": case "larger": case "smaller": case "as-is":
        stay();
        if (!pressed) return;
        if (means === "find") pane.toggle("finding");
        else if (means === "reload") void pane.act("reload");
        else if (means === "back" || means === "forward") void pane.act(means === "back" ? "go_back" : "go_forward");
        else pane.zoom(means === "larger" ? 1 : means === "smaller" ? -1 : 0);
        return;
      case "paste":
        e.stopPropagation();
        return; // the paste event has the text
      case "copy": case "cut":
        stay();
        if (pressed) pane.send({ type: means });
        return;
    }
    if (e.key === "Dead" || e.key === "Process" || e.key === "Unidentified") return; // what comes of it is an input event
    stay();
    pane.input(keyInput(k, pressed, isMac));
  }

  return (
    <div
      ref={host} className={`browser-page ${picking ? "picking" : ""} ${running ? "" : "still"} ${framed ? "framed" : ""}`}
      style={picking || !running ? undefined : { cursor: state?.cursor || undefined }}
      onPointerDown={(e) => onPointer(e, "mousedown")} onPointerUp={(e) => onPointer(e, "mouseup")} onPointerMove={(e) => onPointer(e, "mousemove")}
      onPointerCancel={(e) => onPointer(e, "mouseup")} onContextMenu={(e) => running && e.preventDefault()}
    >
      <canvas ref={canvas} aria-hidden className={view.mobile ? "mobile" : ""} style={{ left: box.x, top: box.y, width: box.width, height: box.height, visibility: painted ? "visible" : "hidden" }} />
      <textarea
        ref={typing} className="browser-surface" aria-label={`The page. Keys go to the page; ${leaves} leaves it.`} autoCapitalize="off" autoComplete="off" spellCheck={false} disabled={!running} style={caret}
        onKeyDown={(e) => onKey(e, true)} onKeyUp={(e) => onKey(e, false)}
        onPaste={(e) => {
          e.preventDefault();
          const text = e.clipboardData.getData("text/plain");
          if (text) pane.pasteText(text);
          else void pane.paste(); // in the window the event has none
        }}
        onCompositionUpdate={(e) => pane.input({ kind: "compose", text: e.data })}
        onCompositionEnd={(e) => {
          pane.input(e.data ? { kind: "text", text: e.data } : { kind: "compose", text: "" });
          e.currentTarget.value = "";
        }}
        onInput={(e) => {
          const typed = e.nativeEvent as InputEvent;
          if (typed.isComposing || /composition/i.test(typed.inputType)) return;
          if (typed.data) pane.input({ kind: "text", text: typed.data });
          e.currentTarget.value = "";
        }}
      />
      {running && state && !picking && <Deed pane={pane} state={state} box={box} />}
      {running && state && picking && <Picked pane={pane} state={state} box={box} size={size} />}
      {running && state && <PagePopup pane={pane} state={state} box={box} />}
      <Notice pane={pane} state={state} link={link} />
      {state && link === "open" && <Cards pane={pane} state={state} keyboard={typing} />}
    </div>
  );
}
