import type { RefObject } from "react";
import { useLayoutEffect, useState } from "react";

/** The width of an element in px, as it changes. */
export function useWidth(el: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(Number.MAX_SAFE_INTEGER);
  useLayoutEffect(() => {
    const { current } = el;
    if (!current) return;
    const watch = new ResizeObserver(() => setWidth(current.clientWidth));
    watch.observe(current);
    return () => watch.disconnect();
  }, [el]);
  return width;
}
