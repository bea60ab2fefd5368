// The one clock of a playback.
export const SPEEDS = [0.5, 1, 4] as const;

/** A stretch in which nothing happens lasts so long at most, while idle times are skipped. */
export const IDLE_MS = 1500;

export type PlayClock = { at: number; playing: boolean; speed: number; skip: boolean };

export const startClock: PlayClock = { at: 0, playing: false, speed: 1, skip: true };

/** Goes on by real milliseconds. moments: when something happens, in order; the last is the end. */
export function advance(c: PlayClock, ms: number, moments: readonly number[]): PlayClock {
  if (!c.playing) return c;
  const end = moments.at(-1) ?? 0;
  let left = ms * c.speed;
  let at = c.at;
  while (left > 0 && at < end) {
    const next = moments.find((m) => m > at) ?? end;
    if (c.skip && next - at > IDLE_MS) {
      at = next - IDLE_MS;
      continue;
    }
    const step = Math.min(left, next - at);
    at += step;
    left -= step;
  }
  return at >= end ? { ...c, at: end, playing: false } : { ...c, at };
}

/** Playing at the end begins again. */
export function play(c: PlayClock, on: boolean, end: number): PlayClock {
  return { ...c, playing: on, at: on && c.at >= end ? 0 : c.at };
}

export const seek = (c: PlayClock, at: number, end: number): PlayClock => ({ ...c, at: Math.max(0, Math.min(end, at)) });
