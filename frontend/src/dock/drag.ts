// Dragging a tab. It uses pointer events, because WebKitGTK's drag and drop loses its
// target over other elements and shows a picture of its own.
import type { PointerEvent as ReactPointerEvent } from "react";
import type { ChannelID } from "../api/types";
import * as change from "../model/dock/change";
import type { PanelID } from "../model/dock/layout";
import { groupById } from "../model/dock/layout";
import { dropSide, place } from "../model/dock/place";
import type { DropAt } from "../model/dock/store";
import { dockUi } from "../model/dock/store";
import { goInto } from "./dock";
import { layoutOf, update } from "./layouts";

const START_PX = 5;
export const STRIP_PX = 34;

/** The place in the dock at a point. */
function target(channel: ChannelID, area: HTMLElement, x: number, y: number): DropAt | null {
  const l = layoutOf(channel);
  const box = area.getBoundingClientRect();
  for (const [group, r] of place(l).groups) {
    if (l.zoom && l.zoom !== group) continue;
    const full = l.zoom ? { x: 0, y: 0, w: 1, h: 1 } : r;
    const [left, top, w, h] = [box.left + full.x * box.width, box.top + full.y * box.height, full.w * box.width, full.h * box.height];
    if (x < left || x >= left + w || y < top || y >= top + h) continue;
    if (y >= top + STRIP_PX) return { group, side: dropSide((x - left) / w, (y - top - STRIP_PX) / Math.max(1, h - STRIP_PX)) };
    const tabs = [...area.querySelectorAll<HTMLElement>(`[data-strip="${group}"] [role=tab]`)].map((t) => t.getBoundingClientRect());
    const at = tabs.findIndex((t) => x < t.left + t.width / 2);
    const edge = at < 0 ? (tabs.at(-1)?.right ?? left) : (tabs[at]?.left ?? left);
    return { group, at: at < 0 ? tabs.length : at, x: edge - box.left };
  }
  return null;
}

/** Begins a drag on a tab. A click that does not move stays a click. */
export function beginDrag(e: ReactPointerEvent<HTMLElement>, channel: ChannelID, panel: PanelID) {
  const el = e.currentTarget;
  const area = el.closest<HTMLElement>(".dock-area");
  if (e.button !== 0 || !area) return;
  const [x0, y0, pointer] = [e.clientX, e.clientY, e.pointerId];
  let dragging = false;

  const move = (m: PointerEvent) => {
    if (!dragging && Math.hypot(m.clientX - x0, m.clientY - y0) < START_PX) return;
    if (!dragging) {
      dragging = true;
      el.setPointerCapture(pointer);
    }
    const box = area.getBoundingClientRect();
    dockUi.setState({ drag: { panel, x: m.clientX - box.left, y: m.clientY - box.top, over: target(channel, area, m.clientX, m.clientY) } });
  };
  const end = (drop: boolean) => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", cancel);
    window.removeEventListener("keydown", key, true);
    const over = dockUi.getState().drag?.over;
    if (!dragging) return;
    dockUi.setState({ drag: null });
    if (drop && over) dropAt(channel, panel, over);
  };
  const up = () => end(true);
  const cancel = () => end(false);
  const key = (k: KeyboardEvent) => {
    if (k.key !== "Escape" || !dragging) return;
    k.preventDefault();
    k.stopPropagation();
    end(false);
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", cancel);
  window.addEventListener("keydown", key, true);
}

function dropAt(channel: ChannelID, panel: PanelID, over: DropAt) {
  update(channel, (l) => {
    if ("side" in over) return over.side ? change.move(l, panel, { group: over.group, side: over.side }) : change.move(l, panel, { group: over.group });
    // The tab leaves its old place, so places behind that are one less.
    const own = groupById(l, over.group)?.panels.indexOf(panel) ?? -1;
    return change.move(l, panel, { group: over.group, at: own >= 0 && own < over.at ? over.at - 1 : over.at });
  });
  goInto(panel);
}
