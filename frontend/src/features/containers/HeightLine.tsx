import type { KeyboardEvent, PointerEvent } from "react";

const STEP = 0.04;

/** The line between list and details. A drag or the arrow keys move it; a double click or Enter puts it back. */
export function HeightLine({ share, onShare }: { share: number; onShare(to: number): void }) {
  function onPointerDown(e: PointerEvent<HTMLDivElement>) {
    if (e.button !== 0) return;
    const el = e.currentTarget;
    const area = el.parentElement?.getBoundingClientRect();
    if (!area) return;
    el.setPointerCapture(e.pointerId);
    const move = (m: globalThis.PointerEvent) => onShare((m.clientY - area.top) / area.height);
    el.addEventListener("pointermove", move);
    el.addEventListener("lostpointercapture", () => el.removeEventListener("pointermove", move), { once: true });
  }
  function onKey(e: KeyboardEvent) {
    if (e.key === "ArrowUp") onShare(share - STEP);
    else if (e.key === "ArrowDown") onShare(share + STEP);
    else if (e.key === "Enter") onShare(0.45);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  return (
    <div
      className="containers-height" role="separator" aria-orientation="horizontal" aria-label="Height of the list" tabIndex={0}
      aria-valuenow={Math.round(share * 100)} aria-valuemin={15} aria-valuemax={80} onPointerDown={onPointerDown} onKeyDown={onKey} onDoubleClick={() => onShare(0.45)}
    />
  );
}
