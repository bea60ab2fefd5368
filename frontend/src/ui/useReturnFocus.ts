import { useState } from "react";

/** A dialog without a button of its own gives the focus back to where it was. */
export function useReturnFocus() {
  const [before] = useState(() => (document.activeElement instanceof HTMLElement ? document.activeElement : null));
  return (e: Event) => {
    e.preventDefault();
    if (before?.isConnected) before.focus({ preventScroll: true });
  };
}
