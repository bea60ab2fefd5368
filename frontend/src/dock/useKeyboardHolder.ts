import { useEffect } from "react";
import { dockUi } from "../model/dock/store";

/** A terminal has the keyboard only as long as nothing else has it. */
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
