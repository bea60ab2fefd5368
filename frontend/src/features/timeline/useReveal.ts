import type { RefObject } from "react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { stopStore } from "../../model/stores";
import type { Item } from "../../model/timeline/items";
import { wayTo } from "../../model/timeline/wayto";
import { focusCard, reveal, showInPanel, STAY, takeStop } from "../../session/gate";

const FRAMES = 30;

/** Gives the keyboard to an item as soon as it is drawn. */
function focusItem(within: HTMLElement | null, index: number, left = FRAMES) {
  const el = within?.querySelector<HTMLElement>(`[data-index="${index}"] > article`);
  if (el) el.focus({ preventScroll: true });
  else if (left > 0) requestAnimationFrame(() => focusItem(within, index, left - 1));
}

type List = {
  items: readonly Item[];
  hidden: readonly ReadonlyMap<string, readonly Item[]>[]; // what closed rows stand for
  ready: boolean;
  isOpen(key: string): boolean;
  known(key: string): boolean; // an item is of the timeline, though it may not be among these
  aside(key: string, enter: boolean): void; // says or changes why it is not
  open(key: string): void;
  show(index: number, key: string): void;
};

/**
 * Shows a row, or the card of a held call, when the person goes to it, and gives it the keyboard.
 * The list draws what is in sight only, so it is told first. What hides the row opens, one more
 * with each drawing. A card that is on no loaded page is in the panel of what waits.
 */
export function useReveal(list: List, scroller: RefObject<HTMLDivElement | null>) {
  const wanted = useStore(stopStore, (s) => s.to === "timeline");
  useEffect(() => {
    const { items, show } = list;
    const asked = wanted && list.ready ? takeStop("timeline") : "";
    const id = asked.replace(STAY, "");
    if (!id) return;
    const way = wayTo(items, list.hidden, list.isOpen, id);
    if (way && "open" in way) {
      list.open(way.open);
      reveal(id, id === asked);
      return;
    }
    if (way) { // not a card: the item itself
      show(way.at, items[way.at]?.key ?? "");
      if (id === asked) focusItem(scroller.current, way.at);
      return;
    }
    const key = `g${id}`;
    const index = items.findIndex((it) => it.key === key);
    if (index < 0) return list.known(id) ? list.aside(id, id === asked) : showInPanel(id);
    show(index, key);
    focusCard(id, scroller.current);
  });
}
