// The keyboard's way into a panel that lists things, and back to where it was.
import type { FocusEvent } from "react";
import type { PanelID } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";
import { enterRegion, regions } from "../ui/layer";
import { goInto } from "./dock";

const FRAMES = 30; // half a second for a panel that is not drawn yet

/** Gives the keyboard to the first of these parts of a panel that takes it, unless the person goes elsewhere first. */
export function visit(panel: PanelID, ...parts: string[]) {
  dockUi.setState({ keyboard: "" });
  const from = document.activeElement;
  const look = (left: number) => {
    const el = document.getElementById(`panel-${panel}`);
    const now = document.activeElement;
    if (el?.contains(now) || (now !== from && now !== document.body)) return;
    const coming = el?.querySelector<HTMLElement>("[data-coming]")?.dataset.coming; // the panel's code is not there yet
    const taken = el && [...parts, "[data-coming=failed]"].some((part) => {
      el.querySelector<HTMLElement>(part)?.focus();
      return el.contains(document.activeElement);
    });
    if (!taken && left > 0) requestAnimationFrame(() => look(coming ? left : left - 1)); // it is not drawn, or behind another tab
  };
  look(FRAMES);
}

const cameFrom = new WeakMap<Element, HTMLElement>();

/** For onFocus of a region: notes where the keyboard came from. Who comes back from where they went from here is no new visitor. */
export function arrive({ target, currentTarget: here, relatedTarget: from }: FocusEvent<HTMLElement>) {
  if (!(from instanceof HTMLElement) || !here.contains(target) || here.contains(from) || from.closest("[data-layer]")) return;
  const before = cameFrom.get(from.closest("[data-region]") ?? from);
  if (!before || !here.contains(before)) cameFrom.set(here, from);
}

/** Gives the keyboard back to where it was before it came to a region, or to another part of the page if that is gone. */
export function leave(region: HTMLElement) {
  const back = cameFrom.get(region);
  back?.focus();
  if (!region.contains(document.activeElement)) return;
  const behind = back?.isConnected && back.closest("[role=tabpanel]"); // of another tab
  if (behind) goInto(behind.id.replace(/^panel-/, ""));
  else regions().some((r) => !r.contains(region) && !region.contains(r) && enterRegion(r));
}
