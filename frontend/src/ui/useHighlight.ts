import { useEffect, useState } from "react";
import type { Token } from "../code/highlight";
import { highlight } from "../code/highlight";

/** The colours of a text by line, once they are known; null before, and where there are none. settle: text that changes is coloured once it has rested for so many ms. */
export function useHighlight(code: string, lang: string, settle = 0): Token[][] | null {
  const [done, setDone] = useState<{ code: string; lines: Token[][] } | null>(null);
  useEffect(() => {
    if (!lang || !code) return;
    let stale = false;
    const look = () => {
      void highlight(code, lang).then((lines) => {
        if (!stale && lines) setDone({ code, lines });
      });
    };
    const t = settle > 0 ? setTimeout(look, settle) : 0;
    if (!t) look();
    return () => {
      stale = true;
      clearTimeout(t);
    };
  }, [code, lang, settle]);
  return done?.code === code ? done.lines : null;
}
