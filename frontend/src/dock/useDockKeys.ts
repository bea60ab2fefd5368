import { useEffect } from "react";
import { dockKey } from "../model/dock/keys";
import { keyAction, NEUTRAL } from "../model/terminals/keys";
import { isMac, PLATFORM } from "../ui/keys";
import { front } from "../ui/layer";
import { requestClose, runDockKey, split } from "./dock";
import { allKinds } from "./panels";

/** Handles keys of the layout and of kinds of panels while no terminal has the focus. A terminal handles them itself. */
export function useDockKeys() {
  useEffect(() => {
    function onKey(e: KeyboardEvent) {
      if (e.defaultPrevented || e.isComposing || front.busy) return;
      if (e.target instanceof Element && e.target.closest(".term")) return;
      if (taken(e) || allKinds().some((kind) => kind.keys?.press?.(e))) {
        e.preventDefault();
        e.stopImmediatePropagation();
      }
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function taken(e: KeyboardEvent): boolean {
  const k = dockKey(e, isMac, false);
  if (k) return runDockKey(k);
  switch (keyAction(e, PLATFORM, NEUTRAL)) {
    case "split-right": split("right"); return true;
    case "split-down": split("down"); return true;
    case "close": requestClose(); return true;
    default: return false;
  }
}
