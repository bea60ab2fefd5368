// The cost and tokens of a run, in the words of the page.
import type { ContextFill, Tokens, Usage } from "../api/types";
import { money, tokens } from "./format";

/** All input tokens, from a cache or not. */
export function allInput(t: Tokens): number {
  return (t.input_tokens ?? 0) + (t.cache_read_tokens ?? 0) + (t.cache_write_tokens ?? 0);
}

/** The share of the input that came from the cache, in percent. */
export function cacheShare(t: Tokens): number {
  const all = allInput(t);
  return all > 0 ? Math.floor(((t.cache_read_tokens ?? 0) * 100) / all) : 0;
}

/** The filled share of a context, in percent. null: its size is unknown. */
export function fullness(c: ContextFill | undefined): number | null {
  if (!c?.used_tokens || !c.window_tokens) return null;
  return Math.min(100, Math.floor((c.used_tokens * 100) / c.window_tokens));
}

export function contextWords(c: ContextFill | undefined): string {
  const percent = fullness(c);
  if (percent !== null) return `context ${percent} % full`;
  return c?.used_tokens ? `context ${tokens(c.used_tokens)} tokens` : "";
}

/** The cost in words; "" where the price is unknown and only tokens can be shown. */
export function costWords(u: Usage, demo: boolean): string {
  if (demo) return "no cost";
  return u.cost_usd ? amount(u.cost_usd, u.cost_estimated) : "";
}

/** An amount of money. An estimate is marked as one, unless only a bound is said. */
export const amount = (usd: number, estimated = false): string => `${estimated && usd >= 0.01 ? "≈ " : ""}${money(usd)}`;

export function usageFacts(u: Usage): string[] {
  const sum: Tokens = {};
  for (const m of u.model_usage ?? []) {
    for (const k of ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] as const) sum[k] = (sum[k] ?? 0) + (m[k] ?? 0);
  }
  const all = allInput(sum);
  if (!all && !sum.output_tokens) return [];
  const share = cacheShare(sum);
  return [`${tokens(all)} tokens in${share ? `, ${share} % from cache` : ""}`, `${tokens(sum.output_tokens ?? 0)} out`];
}
