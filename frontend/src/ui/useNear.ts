import type { RefObject } from "react";
import { useEffect, useState } from "react";

const AROUND_PX = 1500; // a flick of the wheel finds what it comes to

type Watch = { observer: IntersectionObserver; told: WeakMap<Element, (near: boolean) => void>; held: Set<Element> };
const watches = new WeakMap<Element, Watch>(); // one for each element that scrolls

/** Whether the keyboard or a part of the selection is in an element, which therefore stays wherever it is. */
function inUse(el: Element): boolean {
  const selection = getSelection();
  return el.contains(document.activeElement) || Boolean(selection && !selection.isCollapsed && selection.containsNode(el, true));
}

function watchOf(scroller: Element): Watch {
  const known = watches.get(scroller);
  if (known) return known;
  const told: Watch["told"] = new WeakMap();
  const held: Watch["held"] = new Set();
  const observer = new IntersectionObserver((all) => {
    const before = [...held]; // they are asked again with each that comes or goes
    held.clear();
    for (const el of before) told.get(el)?.(false);
    for (const e of all) {
      held.delete(e.target);
      told.get(e.target)?.(e.isIntersecting);
    }
  }, { root: scroller, rootMargin: `${AROUND_PX}px 0px` });
  const made = { observer, told, held };
  watches.set(scroller, made);
  return made;
}

/** Whether an element is in sight of the one that scrolls it, or near, or in use since it was; and how high it was when it last was. first: until that is known. */
export function useNear(el: RefObject<HTMLElement | null>, scroller: string, first: boolean): { near: boolean; height: number } {
  const [state, setState] = useState({ near: first, height: 0 });
  useEffect(() => {
    const it = el.current;
    const root = it?.closest(scroller);
    if (!it || !root) return;
    const { observer, told, held } = watchOf(root);
    told.set(it, (near) => {
      if (!it.offsetParent) return; // What is not laid out, as behind another panel, stays as it is.
      const used = !near && it.firstChild !== null && inUse(it);
      if (used) held.add(it);
      setState((was) => (was.near === (near || used) ? was : { near: near || used, height: was.near ? it.offsetHeight : was.height }));
    });
    observer.observe(it);
    return () => {
      observer.unobserve(it);
      held.delete(it);
    };
  }, [el, scroller]);
  return state;
}
