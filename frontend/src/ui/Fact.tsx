import type { ReactNode } from "react";

/** One fact of a list of facts (dl); nothing where there is nothing to say. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
