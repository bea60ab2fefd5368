import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** A title once it has lasted a while, so that a short command does not make its tab flicker. */
export function useSettled(title: string): string {
  const [shown, setShown] = useState(title);
  useEffect(() => {
    const t = setTimeout(() => setShown(title), SETTLE_MS);
    return () => clearTimeout(t);
  }, [title]);
  return shown;
}
