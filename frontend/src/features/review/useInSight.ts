import type { RefObject } from "react";
import { useEffect } from "react";

/** Keeps the chosen hunk in sight while what is above it grows or shrinks, until somebody scrolls. Not every browser anchors what is in sight. */
export function useInSight(content: RefObject<HTMLElement | null>, hunk: number, line: number) {
  useEffect(() => {
    const scroller = content.current?.parentElement;
    if (!content.current || !scroller) return;
    const place = () => {
      const here = scroller.querySelector(".review-hunk.here");
      return here ? { here, top: scroller.scrollTop, from: here.getBoundingClientRect().top - scroller.getBoundingClientRect().top } : null;
    };
    let was = place();
    const observer = new ResizeObserver(() => {
      const now = place();
      if (!now || !was) return;
      const anchored = Math.abs(now.from - was.from) <= 1;
      if (!anchored && now.top !== was.top) return observer.disconnect(); // somebody has scrolled
      if (!anchored) {
        now.here.scrollIntoView({ block: "nearest" });
        now.here.querySelector(".review-lines:focus .review-at")?.scrollIntoView({ block: "nearest" });
      }
      was = place();
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [content, hunk, line]);
}
