import type { ReactNode } from "react";

/** A switch above a list that says what of it is shown. */
export function FilterChip({ on, children, onChoose }: { on: boolean; children: ReactNode; onChoose(): void }) {
  return <button type="button" className="filter-chip tnum" aria-pressed={on} onClick={onChoose}>{children}</button>;
}
