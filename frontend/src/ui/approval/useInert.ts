import type { FocusEvent, MouseEvent } from "react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { changedSince, INERT_MS, inert } from "../../model/gate";

/**
 * Makes a card deaf for a moment after it appeared, after what it shows has changed, and after
 * the window or a key has brought the focus to it: a key or click of that moment was meant for
 * something else. A click into a card that has long been there counts at once.
 */
export function useInert(what: string) {
  const since = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pointer = useRef({ down: false, early: false });
  const [deaf, setDeaf] = useState(true);

  const arm = useCallback(() => {
    since.current = performance.now();
    setDeaf(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDeaf(false), INERT_MS);
  }, []);
  useLayoutEffect(arm, [arm, what]);
  useEffect(() => {
    const seen = () => document.hidden || arm();
    window.addEventListener("focus", arm);
    document.addEventListener("visibilitychange", seen);
    return () => {
      window.removeEventListener("focus", arm);
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(timer.current);
    };
  }, [arm]);

  const isDeaf = () => inert(since.current, performance.now());
  return {
    deaf,
    isDeaf,
    /** Runs f unless the click, or the press that began it, came too early. */
    clicked: (e: MouseEvent, f: () => void) => {
      if (!isDeaf() && !(e.detail > 0 && pointer.current.early)) f();
    },
    handlers: {
      onPointerDownCapture: () => (pointer.current = { down: true, early: isDeaf() }),
      onPointerUpCapture: () => (pointer.current.down = false),
      onFocus: (e: FocusEvent) => {
        if (!pointer.current.down && !e.currentTarget.contains(e.relatedTarget)) arm();
        pointer.current.down = false;
      },
    },
  };
}

/**
 * useInert for the buttons that decide on a text which others can change. changed says that it
 * is another one than when it was opened.
 */
export function useDeciding(text: string) {
  const [opened, setOpened] = useState("");
  if (!opened && text) setOpened(text);
  return { ...useInert(text), changed: changedSince(opened, text) };
}

/** Said above a text that is not the one that was opened. */
export const CHANGED = "The text has changed since you opened this. Look at it again before you decide.";
