// The keyboard's place while a layer is in front of the page, and after that. All dialogs
// and menus use this file. The page behind a dialog is inert. The action that a person
// chose in a layer runs once the keyboard is back.
import type { KeyboardEvent } from "react";
import { useId, useLayoutEffect, useState } from "react";
import { Front } from "../model/front";

type Place = { el: HTMLElement; region: HTMLElement | null }[]; // the elements to try in this order; an earlier one may be gone

export const front = new Front<Place>();

const places = new WeakMap<Element, Place>();

function cameFrom(): Place {
  const el = document.activeElement;
  if (!(el instanceof HTMLElement) || el === document.body) return [];
  const over = el.closest("[data-layer]");
  return [{ el, region: el.closest<HTMLElement>("[data-region]") }, ...((over && places.get(over)) ?? [])];
}

function took(el: HTMLElement | null | undefined): boolean {
  el?.focus({ preventScroll: true });
  return Boolean(el) && document.activeElement === el;
}

/** Gives the focus to the element of a region that the Tab key would reach. */
export function enterRegion(el: HTMLElement): boolean {
  if (el.matches("[tabindex],textarea")) return took(el);
  return ["article[tabindex='0'],[role=treeitem][tabindex='0']", "[tabindex='0'],textarea,button:not(:disabled):not([tabindex='-1'])"].some((s) => took(el.querySelector<HTMLElement>(s)));
}

/** The visible regions, in the order of the page. */
export function regions(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-region]")].filter((el) => el.offsetParent !== null && getComputedStyle(el).visibility !== "hidden");
}

function giveBack(came: Place) {
  const now = document.activeElement;
  if (now && now !== document.body) return; // another element has taken the focus on purpose
  if (came.some(({ el, region }) => took(el) || (region?.isConnected && enterRegion(region)))) return;
  if (!front.modal && came.length > 0) regions().some(enterRegion);
}

type Begin = (content: HTMLElement) => void;
type MarkProps = { id: string; modal: boolean; from: Place | null; begin: Begin | undefined };

/** Stands in the content of a dialog or menu, and lives as long as that. */
function Mark({ id, modal, from, begin }: MarkProps) {
  const [came] = useState(() => from ?? cameFrom()); // read now, before the content gets the focus
  useLayoutEffect(() => {
    const l = front.enter(modal, came);
    const content = document.querySelector<HTMLElement>(`[data-layer="${id}"]`);
    if (content) {
      places.set(content, came);
      begin?.(content);
    }
    block();
    return () => {
      front.leave(l);
      block();
      // The focus moves after the whole change and before the next key. Radix would use a timer, which keys overtake.
      queueMicrotask(() => front.settle(giveBack));
    };
  }, [id, modal, came, begin]);
  return null;
}

/** Makes the page behind a dialog inert: it takes no keys, clicks or focus, even from the page's own calls. */
function block() {
  document.getElementById("root")?.toggleAttribute("inert", front.modal);
}

/** Keeps a layer's keys from its ancestors in React's tree, which would hear them too. Only shortcuts pass. */
function keep(e: KeyboardEvent) {
  if (!e.ctrlKey && !e.metaKey && !e.altKey) e.stopPropagation();
}

const stay = (e: Event) => e.preventDefault();

/**
 * For the content of a radix dialog or menu: mark belongs inside the content, props on it.
 * begin runs before the first key. A dialog may replace another one, which is gone when the
 * new one is drawn. So it notes the keyboard's place at its first call.
 */
export function useLayer(modal = false, begin?: Begin) {
  const id = useId();
  const [from] = useState(() => (modal ? cameFrom() : null));
  return { mark: <Mark id={id} modal={modal} from={from} begin={begin} />, props: { "data-layer": id, onKeyDown: keep, onCloseAutoFocus: stay } };
}
