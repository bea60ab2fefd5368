const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const precisely = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function clock(at: number): string {
  return time.format(at);
}

/** The time to the second, or "" where there is none. */
export function precise(at: number): string {
  return Number.isFinite(at) ? precisely.format(at) : "";
}

/** The time of a moment today, the date of an older one. The title has the exact moment. */
export function when(at: number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? clock(at) : day.format(at);
}

export function exact(at: number): string {
  return full.format(at);
}
