const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function clock(at: number): string {
  return time.format(at);
}

/** Today needs only the hour; older things also say their day. */
export function when(at: number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? clock(at) : `${day.format(at)} ${clock(at)}`;
}

export function exact(at: number): string {
  return full.format(at);
}
