import { useEffect } from "react";
import { dockUi } from "../../model/dock/store";
import { wish } from "./dock";
import { handles } from "./panes";

/** A terminal has the keyboard only as long as nothing else has it. */
export function useKeyboardHolder() {
  useEffect(() => {
    function onFocus(e: FocusEvent) {
      const { keyboard } = dockUi.getState();
      if (!keyboard || !(e.target instanceof Element) || e.target.closest(`#panel-${keyboard}`)) return;
      // A dialog that closes gives the focus back late: what was asked for since stands.
      if (wish.panel === keyboard && performance.now() < wish.until && !e.target.closest("[role=dialog], [role=menu], input")) {
        setTimeout(() => wish.panel === keyboard && handles.get(keyboard)?.focus());
        return;
      }
      dockUi.setState({ keyboard: "" });
    }
    const onInput = () => (wish.panel = "");
    document.addEventListener("focusin", onFocus);
    document.addEventListener("keydown", onInput, true);
    document.addEventListener("pointerdown", onInput, true);
    return () => {
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("keydown", onInput, true);
      document.removeEventListener("pointerdown", onInput, true);
    };
  }, []);
}
