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

function read(): number {
  if (!timer) now = Math.floor(Date.now() / 1000) * 1000;
  return now;
}

export function useNow(active: boolean): number {
  return useSyncExternalStore(active ? subscribe : never, read, read);
}

const DAY_LOOK_MS = 30_000; // a timer until midnight would stand still while the computer sleeps

/** Calls back once the day is no longer that of the last call, or of the first look. The returned function ends that. */
export function onNewDay(changed: () => void): () => void {
  const today = () => new Date().toDateString();
  let day = today();
  const look = setInterval(() => {
    if (today() === day) return;
    day = today();
    changed();
  }, DAY_LOOK_MS);
  return () => clearInterval(look);
}

/** A time of today. It changes only with the day. */
export function useMidnight(): number {
  const [at, setAt] = useState(Date.now);
  useEffect(() => onNewDay(() => setAt(Date.now())), []);
  return at;
}
