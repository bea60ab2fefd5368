import type { Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useState } from "react";
import type { Item, PromptItem } from "../../model/timeline/items";

/** The prompt that the topmost row in sight belongs to, once it has left the top itself. Call look whenever the list scrolls or grows. */
export function useSticky(items: readonly Item[], virt: Virtualizer<HTMLDivElement, Element>) {
  const [key, setKey] = useState("");
  const look = useCallback(() => {
    const el = virt.scrollElement;
    const top = el?.scrollTop ?? 0;
    const first = el ? virt.getVirtualItemForOffset(top + 1)?.index : undefined;
    let found = "";
    for (let i = Math.min(first ?? -1, items.length - 1); i >= 0; i--) {
      const it = items[i];
      if (it?.kind !== "prompt") continue;
      const end = virt.measurementsCache[i]?.end ?? Infinity;
      if (end <= top + 4) found = it.key;
      break;
    }
    setKey(found);
  }, [items, virt]);
  const index = key ? items.findIndex((it) => it.key === key) : -1;
  return { prompt: items[index] as PromptItem | undefined, index, look };
}
