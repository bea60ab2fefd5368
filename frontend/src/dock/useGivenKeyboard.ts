import { useEffect, useEffectEvent } from "react";
import { useStore } from "zustand";
import type { PanelID } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";

/** Has a panel be given the keyboard, also before it is on the screen. Its kind's focus method may do no more. */
export const giveKeyboard = (panel: PanelID) => dockUi.setState({ keyboard: panel });

/** Calls take once the panel is given the keyboard and is on the screen. */
export function useGivenKeyboard(panel: PanelID, take: () => void) {
  const given = useStore(dockUi, (u) => u.keyboard === panel);
  const now = useEffectEvent(take);
  useEffect(() => {
    if (!given) return;
    now();
    requestAnimationFrame(() => now()); // a panel that was behind another tab is visible only now
    dockUi.setState({ keyboard: "" });
  }, [given]);
}
