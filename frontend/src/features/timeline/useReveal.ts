import type { RefObject } from "react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { stopStore } from "../../model/stores";
import type { Item } from "../../model/timeline/items";
import { focusCard, showInPanel, STAY, takeStop } from "../../session/gate";

const FRAMES = 30;

/** Gives the keyboard to an item as soon as it is drawn. */
function focusItem(within: HTMLElement | null, index: number, left = FRAMES) {
  const el = within?.querySelector<HTMLElement>(`[data-index="${index}"] > article`);
  if (el) el.focus({ preventScroll: true });
  else if (left > 0) requestAnimationFrame(() => focusItem(within, index, left - 1));
}

/** Whether an item is meant, or a folded run that it is in. */
function isAt(it: Item, id: string): boolean {
  return it.key === id || (it.kind === "tool" && `tool ${it.useId}` === id) || (it.kind === "reads" && it.items.some((x) => isAt(x, id)));
}

/**
 * Shows the card of a held call when the person goes to it, and gives it the keyboard. The
 * list draws what is in sight only, so it is told first. A card that is on no loaded page is
 * in the panel of what waits. known: whether an item is of the timeline, though it is not among
 * these; aside: says or changes why.
 */
export function useReveal(items: readonly Item[], hidden: ReadonlyMap<string, readonly Item[]>, ready: boolean, known: (key: string) => boolean, aside: (key: string, enter: boolean) => void, scroller: RefObject<HTMLDivElement | null>, show: (index: number, key: string) => void) {
  const wanted = useStore(stopStore, (s) => s.to === "timeline");
  useEffect(() => {
    const asked = wanted && ready ? takeStop("timeline") : "";
    const id = asked.replace(STAY, "");
    if (!id) return;
    const item = items.findIndex((it) => isAt(it, id) || hidden.get(it.key)?.some((x) => isAt(x, id)));
    if (item >= 0) { // not a card: the item itself
      show(item, items[item]?.key ?? "");
      if (id === asked) focusItem(scroller.current, item);
      return;
    }
    const key = `g${id}`;
    const index = items.findIndex((it) => it.key === key);
    if (index < 0) return known(id) ? aside(id, id === asked) : showInPanel(id);
    show(index, key);
    focusCard(id, scroller.current);
  });
}
