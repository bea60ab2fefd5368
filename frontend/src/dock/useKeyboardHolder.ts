import { useEffect } from "react";
import { dockUi } from "../model/dock/store";

/** A terminal no longer holds the keyboard once another element gets the focus. */
export function useKeyboardHolder() {
  useEffect(() => {
    function onFocus(e: FocusEvent) {
      const { keyboard } = dockUi.getState();
      if (keyboard && e.target instanceof Element && !e.target.closest(`#panel-${keyboard}`)) dockUi.setState({ keyboard: "" });
    }
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);
}
