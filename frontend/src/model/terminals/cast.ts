// Reads asciicast v2: a header line, then one event [seconds, kind, data] on each line.

export type CastEvent = { at: number; kind: "o" | "r" | "m"; data: string };
export type Cast = { cols: number; rows: number; title: string; duration: number; events: CastEvent[]; cut: boolean };

/** The most characters of a recording that are read: a longer one would cost the page gigabytes of memory. */
export const MAX_CAST = 64 * 1024 * 1024;
const MAX_COLS = 1000;
const MAX_ROWS = 500;

export function parseCast(text: string): Cast | null {
  const lines = text.slice(0, MAX_CAST).split("\n");
  const head = parse(lines[0] ?? "");
  if (typeof head !== "object" || head === null || Array.isArray(head)) return null;
  const h = head as { version?: unknown; width?: unknown; height?: unknown; title?: unknown };
  if (h.version !== 2) return null;
  const events: CastEvent[] = [];
  let at = 0;
  let cut = text.length > MAX_CAST;
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? "";
    if (line === "") continue;
    const e = parse(line);
    if (!Array.isArray(e) || typeof e[0] !== "number" || !Number.isFinite(e[0]) || typeof e[2] !== "string") {
      cut = true; // a recording that broke off ends in part of a line
      continue;
    }
    at = Math.max(at, e[0]); // times must not go back
    if (e[1] === "o" || e[1] === "r" || e[1] === "m") events.push({ at, kind: e[1], data: e[2] });
  }
  return { cols: bound(h.width, 80, MAX_COLS), rows: bound(h.height, 24, MAX_ROWS), title: typeof h.title === "string" ? h.title : "", duration: at, events, cut };
}

export function castSize(data: string): { cols: number; rows: number } | null {
  const m = /^(\d{1,4})x(\d{1,4})$/.exec(data);
  return m ? { cols: bound(Number(m[1]), 80, MAX_COLS), rows: bound(Number(m[2]), 24, MAX_ROWS) } : null;
}

function bound(v: unknown, otherwise: number, max: number): number {
  return typeof v === "number" && Number.isInteger(v) && v > 0 ? Math.min(v, max) : otherwise;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The place in a recording that plays. A stretch without output lasts idleLimit seconds at most. */
export class CastClock {
  position = 0; // seconds into the recording
  next = 0; // index of the first event not yet shown
  playing = false;
  speed = 1;

  constructor(readonly cast: Cast, readonly idleLimit = 2) {}

  /** Moves on by real seconds. Returns the events that became due, in order. */
  advance(seconds: number): CastEvent[] {
    if (!this.playing) return [];
    const due: CastEvent[] = [];
    let left = seconds * this.speed;
    while (left > 0) {
      const e = this.cast.events[this.next];
      if (!e) {
        this.position = Math.min(this.cast.duration, this.position + left);
        if (this.position >= this.cast.duration) this.playing = false;
        break;
      }
      let gap = e.at - this.position;
      if (gap > this.idleLimit) {
        this.position = e.at - this.idleLimit;
        gap = this.idleLimit;
      }
      if (gap > left) {
        this.position += left;
        break;
      }
      left -= Math.max(0, gap);
      this.position = e.at;
      this.next++;
      due.push(e);
      // Many events may share one moment.
      while (this.cast.events[this.next]?.at === e.at) due.push(this.cast.events[this.next++] as CastEvent);
    }
    if (this.next >= this.cast.events.length && this.position >= this.cast.duration) this.playing = false;
    return due;
  }

  /** Goes to a moment. Returns the events to draw: on an empty screen if anew is true, else on the present one. */
  seek(to: number): { anew: boolean; events: CastEvent[] } {
    const target = Math.max(0, Math.min(to, this.cast.duration));
    const anew = target < this.position;
    let i = anew ? 0 : this.next;
    const from = i;
    while ((this.cast.events[i]?.at ?? Infinity) <= target) i++;
    this.next = i;
    this.position = target;
    return { anew, events: this.cast.events.slice(from, i) };
  }
}
