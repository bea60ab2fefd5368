// Puts the rows of sub-agents below their calls. They are shown while the call's row is open.
import { agentWorks, askedOf } from "./agents";
import type { ActivityItem, Item, ToolItem } from "./items";

/** rows: what is shown. hidden: what a closed row stands for, by its key. depthOf: how deep a row hangs. */
export type NestView = { rows: readonly Item[]; hidden: ReadonlyMap<string, readonly Item[]>; depthOf(it: Item): number };

const idOf = (runId: string, useId: string): string => `${runId} ${useId}`;

/** A held call that waits, or did, is the person's business: its card stays where it is. */
function parentOf(it: Item): string {
  return it.kind === "tool" || it.kind === "activity" || it.kind === "reads" ? it.parentId : "";
}

export function nest(items: readonly Item[], isOpen: (key: string) => boolean): NestView {
  if (!items.some((it) => parentOf(it) || (it.kind === "tool" && it.agent))) return { rows: items, hidden: new Map(), depthOf: () => 0 };
  const calls = new Map<string, ToolItem>();
  for (const it of items) if (it.kind === "tool" && it.useId) calls.set(idOf(it.runId, it.useId), it);
  const above = (it: Item): ToolItem | undefined => {
    if (it.kind === "decided" && it.decided.tool_use_id) {
      const call = calls.get(idOf(it.runId, it.decided.tool_use_id));
      return call && above(call);
    }
    const p = parentOf(it);
    const call = p ? calls.get(idOf(it.runId, p)) : undefined;
    return call === it ? undefined : call;
  };
  const below = new Map<string, Item[]>();
  const tops: Item[] = [];
  for (const it of items) {
    const call = above(it);
    if (!call) tops.push(it);
    else {
      const kids = below.get(call.key);
      if (kids) kids.push(it);
      else below.set(call.key, [it]);
    }
  }
  const rows: Item[] = [];
  const hidden = new Map<string, Item[]>();
  const depth = new Map<string, number>();
  const seen = new Set<string>(); // a container may name a call its own parent, through another one
  const put = (it: Item, deep: number) => {
    if (seen.has(it.key)) return;
    seen.add(it.key);
    rows.push(it);
    depth.set(it.key, deep);
    if (it.kind !== "tool" || (!it.agent && !below.has(it.key))) return;
    const kids = withWords(it, below.get(it.key) ?? []);
    if (isOpen(it.key)) for (const kid of kids) put(kid, deep + 1);
    else hidden.set(it.key, all(kids));
  };
  const all = (kids: readonly Item[]): Item[] => kids.flatMap((k) => {
    if (seen.has(k.key)) return [];
    seen.add(k.key);
    return [k, ...all(below.get(k.key) ?? [])];
  });
  for (const it of tops) put(it, parentOf(it) ? 1 : 0); // its call may be on an older page
  for (const it of items) put(it, 1); // of a circle
  return { rows, hidden, depthOf: (it) => depth.get(it.kind === "reads" ? (it.items[0]?.key ?? "") : it.key) ?? (parentOf(it) ? 1 : 0) };
}

/** The rows of a sub-agent, between what it was asked and what it gave back. */
function withWords(call: ToolItem, kids: readonly Item[]): Item[] {
  const base = { kind: "activity" as const, runId: call.runId, parentId: call.useId };
  const asked = askedOf(call);
  const out: Item[] = [];
  if (asked) out.push({ ...base, key: `${call.key} asked`, at: call.at, name: "task_prompt", text: asked } satisfies ActivityItem);
  out.push(...kids);
  const report = call.agent?.report ?? "";
  if (report && report.trim() !== call.agent?.said.trim() && !agentWorks(call)) {
    out.push({ ...base, key: `${call.key} report`, at: call.agent?.endedAt || call.at, name: "task_report", text: report } satisfies ActivityItem);
  }
  return out;
}
