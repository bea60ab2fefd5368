import { useEffect, useState, useSyncExternalStore } from "react";

// One clock for the page; it runs only while something that ticks is shown.
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

/** The time, as of the last midnight or the first look. */
export function useMidnight(): number {
  const [at, setAt] = useState(Date.now);
  useEffect(() => {
    const midnight = setTimeout(() => setAt(Date.now()), new Date(at).setHours(24, 0, 1, 0) - Date.now());
    return () => clearTimeout(midnight);
  }, [at]);
  return at;
}
