import { useEffect } from "react";
import { announce } from "../../model/stores";
import { visible } from "../../model/text";
import type { Built } from "../../model/timeline/items";
import { retrySaid } from "../../model/timeline/retries";

const said = new Set<string>(); // rows, for as long as the page is there

/** Tells a screen reader that the run waits for the model: once, and not each second. */
export function useRetrySaid(built: Built, runId: string | undefined) {
  const key = (runId && built.runs[runId]?.retry) || "";
  useEffect(() => {
    const it = key && !said.has(key) ? built.items.findLast((x) => x.key === key) : undefined;
    if (it?.kind !== "retry") return;
    said.add(key);
    announce(visible(retrySaid(it)));
  }, [key, built]);
}
