// The keyboard's way into a panel of its own accord, and back to where it came from.
import { enterRegion, regions } from "./layer";

const FRAMES = 30; // half a second for a panel that is not drawn yet

const cameFrom = new WeakMap<Element, Element>();

/** Gives the keyboard to the part of a panel that inner finds, or to the panel, unless the person goes elsewhere first. */
export function visit(panel: string, inner: string, frames = FRAMES) {
  const from = document.activeElement;
  const look = (left: number) => {
    const el = document.querySelector<HTMLElement>(panel);
    const now = document.activeElement;
    if (el?.contains(now) || (now !== from && now !== document.body)) return;
    (el?.querySelector<HTMLElement>(inner) ?? el)?.focus();
    if (el?.contains(document.activeElement)) {
      if (from && from !== document.body) cameFrom.set(el, from);
    } else if (left > 0) requestAnimationFrame(() => look(left - 1)); // it is not drawn, or behind another tab
  };
  look(frames);
}

/** Gives the keyboard back to where it was before the visit, or to another part of the page if that is gone. */
export function leave(panel: HTMLElement) {
  const back = cameFrom.get(panel);
  if (back instanceof HTMLElement && back.isConnected) back.focus();
  if (panel.contains(document.activeElement)) regions().some((r) => !r.contains(panel) && !panel.contains(r) && enterRegion(r));
}
