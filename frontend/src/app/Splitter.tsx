import type { KeyboardEvent, PointerEvent } from "react";
import { useEffect, useState } from "react";
import { loadChoice, saveChoice } from "../shell/memory";

const MIN = 240;
const MAX = 320;
const STEP = 10;

/** The edge of the sidebar. The person drags it, or moves it with the arrow keys. */
export function Splitter() {
  const [width, setWidth] = useState(() => Number(loadChoice("sidebar.width")) || 0);
  useEffect(() => {
    if (width) document.documentElement.style.setProperty("--sidebar", `${width}px`);
    saveChoice("sidebar.width", width ? String(width) : "");
  }, [width]);
  const set = (w: number) => setWidth(Math.round(Math.min(MAX, Math.max(MIN, w))));

  function onPointerDown(e: PointerEvent<HTMLDivElement>) {
    const el = e.currentTarget;
    el.setPointerCapture(e.pointerId);
    const move = (m: globalThis.PointerEvent) => set(m.clientX);
    el.addEventListener("pointermove", move);
    el.addEventListener("lostpointercapture", () => el.removeEventListener("pointermove", move), { once: true });
  }

  function onKey(e: KeyboardEvent) {
    const now = width || 268;
    if (e.key === "ArrowLeft") set(now - STEP);
    else if (e.key === "ArrowRight") set(now + STEP);
    else if (e.key === "Home") set(MIN);
    else if (e.key === "End") set(MAX);
    else return;
    e.preventDefault();
  }

  return (
    <div className="splitter" role="separator" aria-orientation="vertical" aria-label="Width of the sidebar" aria-valuenow={width || 268} aria-valuemin={MIN} aria-valuemax={MAX} tabIndex={0} onPointerDown={onPointerDown} onKeyDown={onKey} />
  );
}
