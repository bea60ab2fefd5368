import { useCallback, useEffect, useMemo, useState } from "react";
import type { Item } from "../../model/timeline/items";
import type { ReadsMemory } from "../../model/timeline/reads";
import { foldReads, noReads } from "../../model/timeline/reads";

/** What the next drawing has to know of those before. It changes nothing by itself, so it is no state of React. */
class Before {
  memory = noReads;
  still = false;
  keep(memory: ReadsMemory) {
    this.memory = memory;
  }
  settle(following: boolean) {
    this.still = !following;
  }
}

/** The rows of the list, with runs of reads folded. settle takes whether the list follows its end; where it does not, no row that was there goes away. */
export function useReads(items: readonly Item[], open: Record<string, boolean>, current: string) {
  const [before] = useState(() => new Before());
  const view = useMemo(() => foldReads(items, before.memory, before.still, (key) => Boolean(open[key]), current), [before, items, open, current]);
  useEffect(() => before.keep(view.memory), [before, view]);
  const settle = useCallback((following: boolean) => before.settle(following), [before]);
  return { rows: view.rows, inside: view.inside, settle };
}
