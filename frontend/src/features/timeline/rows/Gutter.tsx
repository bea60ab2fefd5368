import { exact } from "../../../model/clock";
import { visible } from "../../../model/text";

const QUICK_MS = 10_000; // a narrow timeline leaves shorter times out

/** took: how long the item took, where the text says it. */
export function Gutter({ at, text, took = QUICK_MS }: { at: number; text: string; took?: number }) {
  return (
    <span className={`gutter tnum ${took < QUICK_MS ? "timeline-quick" : ""}`} title={exact(at)}>
      {visible(text)}
    </span>
  );
}
