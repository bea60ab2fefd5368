import type { GateRecord } from "../../api/types";
import { canBeRule, ruleOf } from "../../model/gate-log";
import { toast } from "../../model/stores";
import { showInTimeline } from "../../session/gate";
import { copyText, NOT_COPIED } from "../../shell/clipboard";

/** Shows what caused an entry: its question, or its tool call. */
export function inTimelineOf(r: GateRecord) {
  if (!r.run_id) return toast("A program in a terminal did this, which has no timeline.");
  showInTimeline(r.channel_id, [r.digest && r.id ? `g${r.id}` : "", r.tool_use_id ? `tool ${r.tool_use_id}` : ""]);
}

export const entryText = (r: GateRecord): string => JSON.stringify(r, null, 2);

export async function copyEntry(r: GateRecord) {
  toast((await copyText(entryText(r))) ? "Entry copied." : NOT_COPIED);
}

export async function copyRule(r: GateRecord) {
  const rule = ruleOf(r);
  if (!rule) return toast("This entry names no object that a rule could name.");
  if (!canBeRule(r)) return toast("This is never remembered: no rule allows it.");
  toast((await copyText(rule.json)) ? `Rule copied. It belongs into gates.agentgate.${rule.list} of the settings.` : NOT_COPIED);
}
