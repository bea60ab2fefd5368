import { CircleAlert, LoaderCircle, MousePointer2, PlugZap, Power, RotateCw } from "lucide-react";
import type { KeyboardEvent, PointerEvent, ReactNode } from "react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useStore } from "zustand";
import type { BrowserState, BrowserTarget } from "../../api/browser-messages";
import { firstView } from "../../api/browser-messages";
import type { Keystroke } from "../../model/browser/keystroke";
import { keyInput, meansOf, modifiersOf } from "../../model/browser/keystroke";
import type { Box } from "../../model/browser/place";
import { placed, pointOf } from "../../model/browser/place";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { composing, isMac } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { useNow } from "../../ui/useNow";
import type { BrowserPane } from "./pane";
import { elementToPrompt } from "./prompting";

const BUTTONS = ["left", "middle", "right"];
const DEED_MS = 8000;
const LINE = 16; // pixels of a wheel's line

const stroke = (e: KeyboardEvent): Keystroke => ({
  key: e.key, code: e.code, keyCode: e.keyCode, altKey: e.altKey, ctrlKey: e.ctrlKey, metaKey: e.metaKey, shiftKey: e.shiftKey, altGraph: e.getModifierState("AltGraph"),
});

/** The page: its picture, what the agent does on it, and the person's hands. */
export function Surface({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const typing = useRef<HTMLTextAreaElement>(null);
  const clicks = useRef({ at: 0, x: 0, y: 0, count: 0 });
  const held = useRef(false);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const { link, painted, picking, picked } = useStore(pane.store);
  const view = state?.view ?? firstView;
  const running = state?.phase === "running" && link === "open";
  const box = placed(view, size.width ? size : view);

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
    const watch = new ResizeObserver(() => {
      setSize({ width: el.clientWidth, height: el.clientHeight });
      pane.resized(el.clientWidth, el.clientHeight);
    });
    watch.observe(el);
    return () => watch.disconnect();
  }, [pane]);

  const at = (e: { clientX: number; clientY: number }) => {
    const edge = host.current?.getBoundingClientRect();
    return edge ? pointOf({ x: e.clientX - edge.left, y: e.clientY - edge.top }, box, view, held.current) : null;
  };
  // React listens to the wheel passively, so that nothing could keep the panel still.
  const onWheel = useEffectEvent((e: WheelEvent) => {
    const p = at(e);
    if (!p || !running) return;
    e.preventDefault();
    const by = e.deltaMode === 1 ? LINE : e.deltaMode === 2 ? view.height : 1;
    pane.input({ kind: "scroll", ...p, delta_x: e.deltaX * by, delta_y: e.deltaY * by, modifiers: modifiersOf({ ...flags(e), altGraph: false }, isMac) });
  });
  useEffect(() => {
    const el = host.current;
    const roll = (e: WheelEvent) => onWheel(e);
    el?.addEventListener("wheel", roll, { passive: false });
    return () => el?.removeEventListener("wheel", roll);
  }, []);

  function onPointer(e: PointerEvent, kind: "mousedown" | "mouseup" | "mousemove") {
    const p = at(e);
    if (!p || !running) return;
    if (picking) {
      if (kind === "mousemove") void pick(p);
      else if (kind === "mousedown") {
        e.preventDefault();
        void pick(p).then((t) => t && take(t));
      }
      return;
    }
    if (kind === "mousedown") {
      e.preventDefault(); // the keyboard stays with the page
      typing.current?.focus();
      e.currentTarget.setPointerCapture(e.pointerId);
      held.current = true;
      const c = clicks.current;
      const again = e.timeStamp - c.at < 500 && Math.hypot(p.x - c.x, p.y - c.y) < 5;
      clicks.current = { at: e.timeStamp, x: p.x, y: p.y, count: again ? c.count + 1 : 1 };
    }
    const m = modifiersOf({ ...flags(e), altGraph: false }, isMac);
    if (e.pointerType === "touch") {
      pane.input({ kind: "touch", ...p, button: kind === "mousedown" ? "start" : kind === "mouseup" ? "end" : "move", modifiers: m });
    } else {
      const button = kind === "mousemove" ? (e.buttons & 1 ? "left" : e.buttons & 2 ? "right" : e.buttons & 4 ? "middle" : "") : (BUTTONS[e.button] ?? "left");
      pane.input({ kind, ...p, button, click_count: kind === "mousemove" ? 0 : clicks.current.count, modifiers: m });
    }
    if (kind === "mouseup") held.current = false;
  }

  async function pick(p: { x: number; y: number }): Promise<BrowserTarget | null> {
    const { target } = await pane.act("element_at", p);
    if (pane.store.getState().picking) pane.store.setState({ picked: target });
    return target;
  }
  function take(t: BrowserTarget) {
    pane.toggle("picking");
    elementToPrompt(pane, t);
  }

  function onKey(e: KeyboardEvent, down: boolean) {
    if (composing(e) || !running) return;
    const k = stroke(e);
    const means = meansOf(k, isMac);
    if (means === "app") return;
    if (picking && down && (e.key === "Escape" || (e.key === "Enter" && picked))) {
      e.preventDefault();
      if (picked && e.key === "Enter") take(picked);
      else pane.toggle("picking");
      return;
    }
    if (means === "baton" || means === "pick" || means === "find") {
      e.preventDefault();
      e.stopPropagation();
      if (!down) return;
      if (means === "baton") pane.baton();
      else pane.toggle(means === "find" ? "finding" : "picking");
      return;
    }
    if (means === "paste") return; // the paste event has the text
    if (means === "copy" || means === "cut") {
      if (down) pane.send({ type: "copy" });
      if (means === "copy") {
        e.preventDefault();
        return;
      }
    }
    if (e.key === "Dead" || e.key === "Process" || e.key === "Unidentified") return; // what comes of it is an input event
    e.preventDefault();
    e.stopPropagation();
    pane.input(keyInput(k, down, isMac));
  }

  return (
    <div
      ref={host} className={`browser-page ${picking ? "picking" : ""} ${running ? "" : "still"}`}
      onPointerDown={(e) => onPointer(e, "mousedown")} onPointerUp={(e) => onPointer(e, "mouseup")} onPointerMove={(e) => onPointer(e, "mousemove")}
      onContextMenu={(e) => running && e.preventDefault()}
    >
      <canvas ref={canvas} aria-hidden style={{ left: box.x, top: box.y, width: box.width, height: box.height, visibility: painted ? "visible" : "hidden" }} />
      <textarea
        ref={typing} className="browser-surface" aria-label="The page. Keys go to the page; F6 leaves it." autoCapitalize="off" autoComplete="off" spellCheck={false} disabled={!running}
        onKeyDown={(e) => onKey(e, true)} onKeyUp={(e) => onKey(e, false)}
        onPaste={(e) => {
          e.preventDefault();
          const text = e.clipboardData.getData("text/plain");
          if (text) pane.input({ kind: "text", text });
        }}
        onCompositionEnd={(e) => {
          if (e.data) pane.input({ kind: "text", text: e.data });
          e.currentTarget.value = "";
        }}
        onInput={(e) => {
          const typed = e.nativeEvent as InputEvent;
          if (typed.isComposing || typed.inputType === "insertCompositionText") return;
          if (typed.data) pane.input({ kind: "text", text: typed.data });
          e.currentTarget.value = "";
        }}
      />
      {running && state && <Deed state={state} box={box} picked={picking ? picked : null} />}
      <Notice pane={pane} state={state} link={link} />
    </div>
  );
}

const flags = (e: { altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }) => ({ altKey: e.altKey, ctrlKey: e.ctrlKey, metaKey: e.metaKey, shiftKey: e.shiftKey });

/** What the agent acted on, or the person is about to pick, drawn on the page. */
function Deed({ state, box, picked }: { state: BrowserState; box: Box; picked: BrowserTarget | null }) {
  const now = useNow(state.deed !== null);
  const deed = state.deed && now - state.deed.at < DEED_MS && state.driver !== "person" ? state.deed : null;
  const t = picked ?? deed?.target;
  if (!t || (t.width === 0 && t.height === 0)) return null;
  const by = box.width / state.view.width;
  const words = picked ? [picked.role || "element", picked.name && `“${picked.name.slice(0, 40)}”`, picked.selector].filter(Boolean).join(" ") : (deed?.text ?? "");
  return (
    <div className={`browser-deed ${picked ? "pick" : ""}`} aria-hidden style={{ left: box.x + t.x * by, top: box.y + t.y * by, width: t.width * by, height: t.height * by }}>
      {!picked && <MousePointer2 size={16} />}
      <span><SafeText text={words} /></span>
    </div>
  );
}

/** What stands in the place of a page, or over its last picture. */
function Notice({ pane, state, link }: { pane: BrowserPane; state: BrowserState | null; link: string }) {
  const note = (icon: ReactNode, head: string, text?: ReactNode, act?: ReactNode) => (
    <div className="browser-note">{icon}<h3>{head}</h3>{text && <p>{text}</p>}{act}</div>
  );
  if (link === "lost") return note(<PlugZap size={20} aria-hidden />, "The connection to Loop was lost", "It is being made again. The page stays as it is.");
  const wait = <LoaderCircle size={20} className="spin" aria-hidden />;
  if (!state || link === "connecting") return note(wait, "Connecting");
  switch (state.phase) {
    case "starting":
      return note(wait, `Starting Chromium, ${(state.sinceMs / 1000).toFixed(1)} s`, state.step ? <>{state.step}. The first start builds its image; closing this panel does not stop it.</> : undefined);
    case "crashed":
      return (
        <div className="browser-note">
          {state.failure ? <FailureCard failure={state.failure} /> : <CircleAlert size={20} aria-hidden />}
          <Button look="primary" onClick={() => pane.send({ type: "restart" })}><RotateCw size={14} aria-hidden /> Restart</Button>
        </div>
      );
    case "idle":
      return note(<Power size={20} aria-hidden />, "The browser is asleep", "It ended because nobody used it. Its profile is kept.", <Button look="primary" onClick={() => pane.send({ type: "restart" })}>Start it</Button>);
    case "off":
      return note(<Power size={20} aria-hidden />, "The browser is switched off", <>Set <code>browser_enabled</code> to true in the settings, then open this panel again.</>);
    case "running":
      if (state.tabs.find((t) => t.active)?.url === "about:blank") return note(null, "Where to?", <>Type an address above. Servers of the agent are at <code>localhost</code>, with their port.</>);
  }
  return null;
}
