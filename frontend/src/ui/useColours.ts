import { useMemo } from "react";
import type { Token } from "../code/highlight";
import type { PatchLine } from "../model/patch";
import { useHighlight } from "./useHighlight";

/** The colours of a line by its index. Both texts are coloured on their own, as one of both would be no program. */
export function useColours(lines: PatchLine[], lang: string): (i: number) => Token[] | undefined {
  const sides = useMemo(() => {
    const old: string[] = [];
    const fresh: string[] = [];
    const at = lines.map((l) => {
      if (l.kind === "del") return old.push(l.text) - 1;
      if (l.kind === "same") old.push(l.text);
      return fresh.push(l.kind === "hunk" ? "" : l.text) - 1;
    });
    return { old: old.join("\n"), fresh: fresh.join("\n"), at };
  }, [lines]);
  const old = useHighlight(sides.old, lang);
  const fresh = useHighlight(sides.fresh, lang);
  return (i) => (lines[i]?.kind === "del" ? old : fresh)?.[sides.at[i] ?? -1];
}
