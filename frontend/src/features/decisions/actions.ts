import type { GateRecord } from "../../api/types";
import { openPanel } from "../../dock/dock";
import { draftOfRecord, noRuleWords } from "../../model/gate-log";
import { RULES_PANEL } from "../../model/gate-rules";
import { begunRuleStore, toast } from "../../model/stores";
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

/** Opens the editor with the rule of an entry. Only the person saves it there. */
export function writeRule(r: GateRecord) {
  const no = noRuleWords(r);
  if (no) return toast(no);
  begunRuleStore.setState({ channel: r.channel_id, draft: draftOfRecord(r) });
  openPanel({ kind: RULES_PANEL, data: null });
}
