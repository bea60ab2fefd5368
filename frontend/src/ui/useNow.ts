import { useEffect, useState, useSyncExternalStore } from "react";

// The page's one clock. It runs only while the page shows something that ticks.
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const l of listeners) l();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

const never = () => () => {};

export function useNow(active: boolean): number {
  return useSyncExternalStore(active ? subscribe : never, () => {
    if (!timer) now = Math.floor(Date.now() / 1000) * 1000;
    return now;
  });
}

/** The time of the last midnight since the first render, or of that render. */
export function useMidnight(): number {
  const [at, setAt] = useState(Date.now);
  useEffect(() => {
    const midnight = setTimeout(() => setAt(Date.now()), new Date(at).setHours(24, 0, 1, 0) - Date.now());
    return () => clearTimeout(midnight);
  }, [at]);
  return at;
}
