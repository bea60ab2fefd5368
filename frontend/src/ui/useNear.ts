import type { RefObject } from "react";
import { useEffect, useState } from "react";

const AROUND_PX = 1500; // a flick of the wheel finds what it comes to

type Watch = { observer: IntersectionObserver; told: WeakMap<Element, (near: boolean) => void> };
const watches = new WeakMap<Element, Watch>(); // one for each element that scrolls

function watchOf(scroller: Element): Watch {
  const known = watches.get(scroller);
  if (known) return known;
  const told: Watch["told"] = new WeakMap();
  const observer = new IntersectionObserver((all) => all.forEach((e) => told.get(e.target)?.(e.isIntersecting)), { root: scroller, rootMargin: `${AROUND_PX}px 0px` });
  const made = { observer, told };
  watches.set(scroller, made);
  return made;
}

/** Whether an element is in sight of the one that scrolls it, or near; and how high it was when it last was. first: until that is known. */
export function useNear(el: RefObject<HTMLElement | null>, scroller: string, first: boolean): { near: boolean; height: number } {
  const [state, setState] = useState({ near: first, height: 0 });
  useEffect(() => {
    const it = el.current;
    const root = it?.closest(scroller);
    if (!it || !root) return;
    const { observer, told } = watchOf(root);
    // What is not laid out, as behind another panel, stays as it is.
    told.set(it, (near) => it.offsetParent && setState((was) => (was.near === near ? was : { near, height: was.near ? it.offsetHeight : was.height })));
    observer.observe(it);
    return () => observer.unobserve(it);
  }, [el, scroller]);
  return state;
}
