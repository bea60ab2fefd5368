// Goings back to before a prompt, as rows.
import type { LoopEvent, Rewind } from "../../api/types";
import { list, record, text } from "./coerce";
import type { Built } from "./items";

const WHATS = ["files", "conversation", "both"] as const;
const STATES = ["begun", "done", "broken", "undone"] as const;

function rewindOf(data: unknown): Rewind {
  const r = record(data);
  const count = (v: unknown) => (typeof v === "number" && Number.isFinite(v) ? v : 0);
  return {
    id: text(r.id), run_id: text(r.run_id), prompt: text(r.prompt), prompt_ms: count(r.prompt_ms), files: count(r.files), leaves: list(r.leaves).map(text),
    what: WHATS.find((w) => w === r.what) ?? "files", state: STATES.find((s) => s === r.state) ?? "done",
  };
}

/** A row of its own, or the new state of the one that is there: it was undone. */
export function rewound(b: Built, ev: LoopEvent, data: unknown) {
  const rewind = rewindOf(data);
  const key = `w${rewind.id}`;
  const i = b.items.findLastIndex((it) => it.key === key);
  const old = b.items[i];
  if (old?.kind === "rewound") b.items[i] = { ...old, rewind };
  else b.items.push({ kind: "rewound", key, at: ev.timestamp, runId: "", rewind });
}
