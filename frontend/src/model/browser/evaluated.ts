// What a person evaluated in the page, between the lines of its console.
import type { BrowserLine } from "../../api/browser-messages";

export type Evaluated = { id: number; time: number; after: number; expression: string; result: string; failed: boolean; done: boolean };
export type ConsoleRow = { kind: "line"; key: string; line: BrowserLine } | { kind: "asked" | "answered"; key: string; at: Evaluated };

const MOST = 100;

/** Adds an expression, behind the lines that are there. */
export const asked = (all: Evaluated[], e: Omit<Evaluated, "result" | "failed" | "done">): Evaluated[] => [...all, { ...e, result: "", failed: false, done: false }].slice(-MOST);

export const answered = (all: Evaluated[], id: number, result: string, failed: boolean): Evaluated[] => all.map((e) => (e.id === id ? { ...e, result, failed, done: true } : e));

/** The rows of the console: an expression stands behind the lines that were there when it was typed. */
export function consoleRows(lines: BrowserLine[], all: Evaluated[], filter: string): ConsoleRow[] {
  const has = (text: string) => text.toLowerCase().includes(filter.toLowerCase());
  const rows: ConsoleRow[] = [];
  let next = 0;
  const ask = (before: number) => {
    for (let e = all[next]; e && e.after < before; e = all[++next]) {
      if (!has(e.expression) && !has(e.result)) continue;
      rows.push({ kind: "asked", key: `e${e.id}`, at: e });
      if (e.done) rows.push({ kind: "answered", key: `r${e.id}`, at: e });
    }
  };
  for (const line of lines) {
    ask(line.seq);
    if (has(line.text) || has(line.source)) rows.push({ kind: "line", key: `l${line.seq}`, line });
  }
  ask(Infinity);
  return rows;
}

/** Earlier expressions by the arrow keys. at -1 is what is being typed. */
export class Recall {
  private list: string[] = [];
  private at = -1;
  private draft = "";

  add(expression: string) {
    if (this.list[0] !== expression) this.list = [expression, ...this.list].slice(0, MOST);
    this.at = -1;
  }

  /** The text for one step back (1) or forward (-1); null at an end. */
  step(by: 1 | -1, typed: string): string | null {
    const to = this.at + by;
    if (to < -1 || to >= this.list.length) return null;
    if (this.at === -1) this.draft = typed;
    this.at = to;
    return to === -1 ? this.draft : (this.list[to] ?? "");
  }
}
