import { useEffect } from "react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../model/stores";
import { look, recallSeen } from "../session/seen";
import { recallListeners } from "../shell/memory";

/** Looks at the chosen channel whenever something changes, or the person comes back to the window. */
export function useSeen() {
  const channels = useStore(frameStore, (f) => f.channels);
  const selected = useStore(viewStore, (v) => v.selected);
  const page = useStore(viewStore, (v) => v.page);
  useEffect(() => {
    recallSeen();
    recallListeners.add(recallSeen);
    window.addEventListener("focus", look);
    window.addEventListener("blur", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      recallListeners.delete(recallSeen);
      window.removeEventListener("focus", look);
      window.removeEventListener("blur", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  useEffect(look, [channels, selected, page]);
}
