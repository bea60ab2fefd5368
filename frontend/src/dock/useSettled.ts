import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** A title once it lasts: a command that is over at once does not make its tab flicker. */
export function useSettled(title: string): string {
  const [shown, setShown] = useState(title);
  useEffect(() => {
    const t = setTimeout(() => setShown(title), SETTLE_MS);
    return () => clearTimeout(t);
  }, [title]);
  return shown;
}
