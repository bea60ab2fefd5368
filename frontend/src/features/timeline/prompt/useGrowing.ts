import type { RefObject } from "react";
import { useEffect, useLayoutEffect } from "react";

/** Makes a text area as high as its text, up to a part of the window, at every width. */
export function useGrowing(box: RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => grow(box.current), [box, text]);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let width = el.clientWidth;
    const watch = new ResizeObserver(() => {
      if (el.clientWidth === width) return;
      width = el.clientWidth;
      grow(el);
    });
    watch.observe(el);
    return () => watch.disconnect();
  }, [box]);
}

function grow(el: HTMLTextAreaElement | null) {
  if (!el) return;
  el.style.height = "auto";
  el.style.height = `${Math.min(el.scrollHeight, window.innerHeight * 0.4)}px`;
}
