import type { CSSProperties, ReactNode } from "react";
import { useRef } from "react";
import { useNear } from "../../ui/useNear";

type Props = { rows: number; bar?: boolean; first: boolean; wanted: boolean; children(): ReactNode };

/** Lines of a difference, or a hunk with its bar. They are made once they are near, as a file may have 20,000 lines. wanted: wherever they are. */
export function Unseen({ rows, bar = false, first, wanted, children }: Props) {
  const el = useRef<HTMLDivElement>(null);
  const { near, height } = useNear(el, ".review-hunks", first);
  const shown = near || wanted;
  const style = height > 0 ? { height } : ({ "--rows": rows } as CSSProperties);
  return <div ref={el} className={shown ? "" : bar ? "review-unseen review-unseen-hunk" : "review-unseen"} style={shown ? undefined : style}>{shown && children()}</div>;
}
