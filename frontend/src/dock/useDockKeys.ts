import { useEffect } from "react";
import { dockKey } from "../model/dock/keys";
import { keysStore } from "../model/keys/store";
import { pressed, typesInto } from "../ui/keys";
import { front } from "../ui/layer";
import { requestClose, runDockKey, split } from "./dock";
import { allKinds } from "./panels";

/** Handles keys of the layout and of kinds of panels while no terminal has the focus. A terminal handles them itself. */
export function useDockKeys() {
  useEffect(() => {
    function onKey(e: KeyboardEvent) {
      if (e.defaultPrevented || e.isComposing || front.busy || typesInto(e)) return;
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
  const k = dockKey(e, keysStore.getState().map, false);
  if (k) return runDockKey(k);
  switch (pressed("panes", e)) {
    case "panes.split-right": split("right"); return true;
    case "panes.split-down": split("down"); return true;
    case "panes.close": requestClose(); return true;
    default: return false;
  }
}
