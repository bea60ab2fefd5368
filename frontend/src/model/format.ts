// Durations, money and sizes in the words of the page.

export function duration(ms: number): string {
  if (!(ms >= 0)) return "";
  if (ms < 50) return "<0.1 s";
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return s % 60 === 0 ? `${m} m` : `${m} m ${s % 60} s`;
  const h = Math.floor(m / 60);
  return m % 60 === 0 ? `${h} h` : `${h} h ${m % 60} m`;
}

/** A duration for the margin: "" below 50 ms, which is not worth a word. */
export function quietDuration(ms: number): string {
  return ms < 50 ? "" : duration(ms);
}

/** A duration for checks, with exact milliseconds below a second. */
export function fineDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : duration(ms);
}

/** A duration in whole units, for a clock that ticks. */
export function elapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  return m < 60 ? `${m} m` : `${Math.floor(m / 60)} h ${m % 60} m`;
}

/** Money with two digits; what is less than the least of these says so. */
export function money(usd: number): string {
  if (!(usd > 0)) return "$0.00";
  return usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

/** A number of tokens, rounded above 1000. */
export function tokens(n: number): string {
  if (n < 1000) return `${n}`;
  if (n < 9950) return `${(n / 1e3).toFixed(1)} k`;
  return n < 999_500 ? `${Math.round(n / 1e3)} k` : `${(n / 1e6).toFixed(1)} M`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** claude-sonnet-4-5-20250929 reads “Sonnet 4.5”; anything else stays as it is. */
export function modelName(model: string): string {
  const m = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?$/.exec(model);
  if (!m?.[1]) return model;
  return `${m[1][0]?.toUpperCase()}${m[1].slice(1)} ${m[2]}${m[3] ? `.${m[3]}` : ""}`;
}
