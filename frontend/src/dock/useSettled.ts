import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** A value once it has lasted a while, so that a short command does not make its tab flicker. */
export function useSettled<T>(value: T, ms = SETTLE_MS): T {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    const t = setTimeout(() => setShown(value), ms);
    return () => clearTimeout(t);
  }, [value, ms]);
  return shown;
}
