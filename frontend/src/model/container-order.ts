// The order in which the panel of containers shows its rows.
import type { ContainerWatch } from "../api/types";
import type { ContainerRow } from "./containers";
import { endsAt } from "./containers";

export const COLUMNS = ["State", "Channel and container", "Held by", "Up", "CPU", "Memory", "Size", "What happens next"] as const;
export type Column = (typeof COLUMNS)[number];
export type ContainerOrder = { by: Column; up: boolean }; // up: the other way round

export const FIRST: ContainerOrder = { by: "State", up: false };

/** The order that was kept as text, or the first one. */
export function orderFrom(text: string): ContainerOrder {
  const by = COLUMNS.find((c) => text === c || text === `${c} up`);
  return by ? { by, up: text !== by } : FIRST;
}

const LEAST_FIRST: readonly Column[] = ["Channel and container", "Up", "What happens next"];

/** How a column is sorted, in the words of ARIA. */
export function sortedHow(o: ContainerOrder, by: Column): "ascending" | "descending" | "none" {
  if (by !== o.by) return "none";
  return LEAST_FIRST.includes(by) === o.up ? "descending" : "ascending";
}

export const orderText = (o: ContainerOrder): string => (o.up ? `${o.by} up` : o.by);

/** The order after a click on a column: the same one turns round. */
export const byColumn = (o: ContainerOrder, by: Column): ContainerOrder => ({ by, up: o.by === by && !o.up });

/** The order by the next column. */
export const byNext = (o: ContainerOrder): ContainerOrder => ({ by: COLUMNS[(COLUMNS.indexOf(o.by) + 1) % COLUMNS.length] ?? FIRST.by, up: false });

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const cpu = (r: ContainerRow) => r.c.samples?.at(-1)?.cpus ?? -1;

/** The memory that the row shows: what ran out of it shows the most it had. */
const memory = (r: ContainerRow) => {
  const all = (r.c.samples ?? []).map((s) => s.memory_bytes);
  return (r.tone === "fail" ? Math.max(-1, ...all) : all.at(-1)) ?? -1;
};

/** How a column compares two rows. What is much, new or soon comes first, because one looks for it. */
const COMPARE: Record<Exclude<Column, "State">, (a: ContainerRow, b: ContainerRow) => number> = {
  "Channel and container": (a, b) => words.compare(a.title, b.title) || words.compare(a.c.container_name, b.c.container_name),
  "Held by": (a, b) => (b.c.holders ?? []).length - (a.c.holders ?? []).length,
  Up: (a, b) => begun(b) - begun(a),
  CPU: (a, b) => cpu(b) - cpu(a),
  Memory: (a, b) => memory(b) - memory(a),
  Size: (a, b) => b.c.size_bytes - a.c.size_bytes,
  "What happens next": (a, b) => deadline(a) - deadline(b),
};

const begun = (r: ContainerRow) => (r.up === "ended" ? 0 : Date.parse(r.c.created_at));
const deadline = (r: ContainerRow) => {
  if (r.nextIcon === "warning") return 0;
  return (r.c.remove_at ? Date.parse(r.c.remove_at) : r.nextIcon === "lock" ? 0 : endsAt(r.c)) || Number.MAX_SAFE_INTEGER;
};

/** Rows, which come in the order of their states, in an order. */
export function ordered(rows: ContainerRow[], o: ContainerOrder): ContainerRow[] {
  const by = o.by === "State" ? null : COMPARE[o.by];
  if (!by) return o.up ? rows.toReversed() : rows;
  return rows.toSorted((a, b) => (o.up ? by(b, a) : by(a, b)));
}

/** What becomes of a container when Loop ends. */
export function atQuit(exit: ContainerWatch["on_app_exit"], held: boolean): string {
  if (held) return "it goes on, and so does what works in it";
  switch (exit) {
    case "stop":
      return "it is stopped; the next run starts it again";
    case "remove":
      return "it is removed";
    default:
      return "it goes on; half an hour without any Loop, and with nothing running in it, ends it";
  }
}
