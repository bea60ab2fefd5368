import type { KeyboardEvent, PointerEvent } from "react";
import { useLayoutEffect, useRef } from "react";
import type { ChannelID } from "../api/types";
import * as change from "../model/dock/change";
import type { Line as LineAt } from "../model/dock/place";
import { update } from "./layouts";

const STEP = 0.04;
const MIN_PX = 120;

/** The line between two panes. A drag or the arrow keys move it; a double click or Enter makes the parts equal. */
export function Line({ channelId, line, name }: { channelId: ChannelID; line: LineAt; name: string }) {
  const row = line.dir === "row";
  const latest = useRef(line);
  useLayoutEffect(() => {
    latest.current = line;
  });

  const moveTo = (before: number, min?: number) =>
    update(channelId, (l) => change.moveLine(l, line.split, line.at, before - latest.current.before, min));

  function onPointerDown(e: PointerEvent<HTMLDivElement>) {
    if (e.button !== 0) return;
    const el = e.currentTarget;
    const area = el.parentElement?.getBoundingClientRect();
    if (!area) return;
    const px = (row ? area.width : area.height) * line.span;
    const from = row ? e.clientX : e.clientY;
    const before = line.before;
    el.setPointerCapture(e.pointerId);
    const move = (m: globalThis.PointerEvent) => moveTo(before + ((row ? m.clientX : m.clientY) - from) / px, MIN_PX / px);
    el.addEventListener("pointermove", move);
    el.addEventListener("lostpointercapture", () => el.removeEventListener("pointermove", move), { once: true });
  }

  function onKey(e: KeyboardEvent) {
    const by = { ArrowLeft: row ? -STEP : 0, ArrowRight: row ? STEP : 0, ArrowUp: row ? 0 : -STEP, ArrowDown: row ? 0 : STEP }[e.key];
    if (by) moveTo(line.before + by);
    else if (e.key === "Enter") update(channelId, (l) => change.even(l, line.split));
    else return;
    e.preventDefault();
  }

  const style = row
    ? { left: `${line.rect.x * 100}%`, top: `${line.rect.y * 100}%`, height: `${line.rect.h * 100}%` }
    : { left: `${line.rect.x * 100}%`, top: `${line.rect.y * 100}%`, width: `${line.rect.w * 100}%` };
  const now = Math.round((line.before / line.both) * 100);
  return (
    <div
      className={`dock-line ${row ? "row" : "column"}`} style={style} tabIndex={0}
      role="separator" aria-orientation={row ? "vertical" : "horizontal"} aria-label={name} aria-valuenow={now} aria-valuemin={0} aria-valuemax={100}
      onPointerDown={onPointerDown} onKeyDown={onKey} onDoubleClick={() => update(channelId, (l) => change.even(l, line.split))}
    />
  );
}
