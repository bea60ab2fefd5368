// Where the keyboard is while something is in front of the page, and where it goes
// after that. All dialogs and menus go through here: what is behind a dialog is inert,
// and what is chosen in one of them is done once the keyboard is back.
import type { KeyboardEvent } from "react";
import { useId, useLayoutEffect, useState } from "react";
import { Front } from "../model/front";

type Place = { el: HTMLElement; region: HTMLElement | null }[]; // the next stands in for one that is gone

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

/** The place in a region of the page that the Tab key would come to. */
export function enterRegion(el: HTMLElement): boolean {
  if (el.matches("[tabindex],textarea")) return took(el);
  return ["article[tabindex='0'],[role=treeitem][tabindex='0']", "[tabindex='0'],textarea,button:not(:disabled):not([tabindex='-1'])"].some((s) => took(el.querySelector<HTMLElement>(s)));
}

/** The regions that can be seen, in the order of the page. */
export function regions(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-region]")].filter((el) => el.offsetParent !== null && getComputedStyle(el).visibility !== "hidden");
}

function giveBack(came: Place) {
  const now = document.activeElement;
  if (now && now !== document.body) return; // somebody has it by right
  if (came.some(({ el, region }) => took(el) || (region?.isConnected && enterRegion(region)))) return;
  if (!front.modal && came.length > 0) regions().some(enterRegion);
}

type Begin = (content: HTMLElement) => void;
type MarkProps = { id: string; modal: boolean; from: Place | null; begin: Begin | undefined };

/** Stands in the content of a dialog or menu, and is there as long as that. */
function Mark({ id, modal, from, begin }: MarkProps) {
  const [came] = useState(() => from ?? cameFrom()); // the content has not got the focus yet
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
      // After the whole of the change, before the next key: radix would take a timer, which keys overtake.
      queueMicrotask(() => front.settle(giveBack));
    };
  }, [id, modal, came, begin]);
  return null;
}

/** What is behind a dialog takes neither keys nor clicks nor the focus, whoever asks. */
function block() {
  document.getElementById("root")?.toggleAttribute("inert", front.modal);
}

/** React's ancestors of a layer hear its keys as if it stood inside them; only shortcuts are for all. */
function keep(e: KeyboardEvent) {
  if (!e.ctrlKey && !e.metaKey && !e.altKey) e.stopPropagation();
}

const stay = (e: Event) => e.preventDefault();

/**
 * For the content of a radix dialog or menu: mark belongs into it, props onto it. What
 * begin does is done before the first key. A dialog may take the place of another, which
 * has gone when it is drawn, and so remembers from the start where the keyboard was.
 */
export function useLayer(modal = false, begin?: Begin) {
  const id = useId();
  const [from] = useState(() => (modal ? cameFrom() : null));
  return { mark: <Mark id={id} modal={modal} from={from} begin={begin} />, props: { "data-layer": id, onKeyDown: keep, onCloseAutoFocus: stay } };
}
