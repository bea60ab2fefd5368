import type { FocusEvent, RefObject } from "react";
import { useLayoutEffect, useRef } from "react";

const HERE = [".review-hunk.here .review-lines", ".review-hunk.here button", ".review-hunks button"];
const HEAD = ".review-file-head button"; // of a file without hunks that take the keyboard

function first(panel: HTMLElement | null, parts: readonly string[]): HTMLElement | null | undefined {
  return parts.map((s) => panel?.querySelector<HTMLElement>(s)).find((el) => el && el.offsetParent !== null);
}

/** Gives the keyboard to the chosen hunk, or what else there is. */
export const focusHunks = (panel: HTMLElement | null) => first(panel, [...HERE, HEAD])?.focus();

/** Keeps the keyboard in the hunks: with the chosen one, and where what had it is gone. chosen: another word for each. read: whether the file is there. */
export function useKeyboard(panel: RefObject<HTMLElement | null>, chosen: string, read: boolean) {
  const inside = useRef(false);
  useLayoutEffect(() => {
    const had = document.activeElement?.closest(".review-hunk");
    if (had && panel.current?.contains(had) && !had.matches(".here")) first(panel.current, HERE)?.focus({ preventScroll: true });
  }, [panel, chosen]);
  useLayoutEffect(() => {
    if (inside.current && read && document.activeElement === document.body) first(panel.current, [...HERE, ".review-list", HEAD])?.focus({ preventScroll: true });
  });
  return {
    onFocus: (e: FocusEvent) => {
      inside.current = e.target.closest(".review-hunks") !== null;
    },
    // What is taken out of the page says nothing, and a window that goes to the back leaves the keyboard where it is.
    onBlur: (e: FocusEvent) => {
      if (document.activeElement !== e.target) inside.current = false;
    },
  };
}
