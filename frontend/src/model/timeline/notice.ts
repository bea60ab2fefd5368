// Sentences that Loop says in the timeline, and who drives the browser from then on.
import type { LoopEvent, Notice } from "../../api/types";
import { text } from "./coerce";
import type { Built } from "./items";
import { drives } from "./items";

/** A hand that takes the browser ends the row of the one before. */
export function notice(b: Built, ev: LoopEvent, n: Notice) {
  const runId = ev.run_id ?? "";
  const driver = text(n.driver);
  if (driver) {
    const i = b.items.findLastIndex((it) => it.runId === runId && drives(it));
    const before = b.items[i];
    if (before?.kind === "notice") b.items[i] = { ...before, until: ev.timestamp };
  }
  b.items.push({ kind: "notice", key: `e${ev.id}`, at: ev.timestamp, runId, level: text(n.level) || "info", text: text(n.text), driver, until: 0 });
}
