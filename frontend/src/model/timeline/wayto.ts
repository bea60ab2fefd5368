// The way to a row that may be in what other rows hide.
import type { Item } from "./items";

/** at: where the row is. open: the row that hides it, or hides the next one that does. */
export type Way = { at: number } | { open: string } | null;

/**
 * The way to a row, by its key or by "tool " and a call. hidden: what closed rows stand for. A row that
 * is open and still hides it is as near as it gets.
 */
export function wayTo(rows: readonly Item[], hidden: readonly ReadonlyMap<string, readonly Item[]>[], isOpen: (key: string) => boolean, id: string): Way {
  const is = (it: Item) => it.key === id || (it.kind === "tool" && `tool ${it.useId}` === id);
  const own = rows.findIndex(is);
  if (own >= 0) return { at: own };
  const at = rows.findIndex((row) => (row.kind === "reads" && row.items.some(is)) || hidden.some((h) => h.get(row.key)?.some(is)));
  const row = rows[at];
  if (!row) return null;
  return isOpen(row.key) ? { at } : { open: row.key };
}
