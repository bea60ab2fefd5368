import type { RefObject } from "react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_END_PX = 28;

/**
 * Follows the end of a growing list. It stops as soon as the person scrolls up, opens a row
 * or selects text, and follows again at the end. While it does not follow, growth does not
 * move the visible rows.
 */
export function useFollow(scroller: RefObject<HTMLDivElement | null>, total: number, count: number) {
  const [following, setFollowing] = useState(true);
  const [seen, setSeen] = useState(count);
  const latch = useRef(true);
  const lastTop = useRef(0);

  const set = useCallback((on: boolean) => {
    latch.current = on;
    setFollowing(on);
  }, []);

  const toEnd = useCallback(() => {
    const el = scroller.current;
    if (!el) return;
    el.scrollTop = el.scrollHeight;
    lastTop.current = el.scrollTop;
  }, [scroller]);

  const follow = useCallback(() => {
    set(true);
    toEnd();
  }, [set, toEnd]);

  const pause = useCallback(() => set(false), [set]);

  useLayoutEffect(() => {
    if (latch.current && !selecting(scroller.current)) toEnd();
  }, [total, count, toEnd, scroller]);

  // The end also stays in view when the prompt box or the window makes the list lower.
  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const ro = new ResizeObserver(() => latch.current && toEnd());
    ro.observe(el);
    return () => ro.disconnect();
  }, [scroller, toEnd]);

  useEffect(() => {
    if (following) setSeen(count);
  }, [following, count]);

  const onScroll = useCallback(() => {
    const el = scroller.current;
    if (!el) return;
    const top = el.scrollTop;
    const atEnd = el.scrollHeight - top - el.clientHeight <= NEAR_END_PX;
    if (atEnd && !latch.current && top > lastTop.current) set(true);
    else if (!atEnd && latch.current && top < lastTop.current - 2) set(false);
    lastTop.current = top;
  }, [scroller, set]);

  return { following, behind: following ? 0 : Math.max(0, count - seen), onScroll, follow, pause };
}

function selecting(el: HTMLElement | null): boolean {
  const s = document.getSelection();
  return Boolean(el && s && !s.isCollapsed && s.anchorNode && el.contains(s.anchorNode));
}
