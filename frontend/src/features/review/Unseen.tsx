import type { CSSProperties, ReactNode } from "react";
import { useRef } from "react";
import { useNear } from "../../ui/useNear";

type Props = { rows: number; first: boolean; wanted: boolean; children(): ReactNode };

/** Lines of a difference. They are made once they are near, as a file may have 20,000. wanted: wherever they are. */
export function Unseen({ rows, first, wanted, children }: Props) {
  const el = useRef<HTMLDivElement>(null);
  const { near, height } = useNear(el, ".review-hunks", first);
  const shown = near || wanted;
  const style = height > 0 ? { height } : ({ "--rows": rows } as CSSProperties);
  return <div ref={el} className={shown ? "" : "review-unseen"} style={shown ? undefined : style}>{shown && children()}</div>;
}
