// Back to before a prompt, and undoing that.
import { toFailure } from "../api/failure";
import type { BackRequest, ChannelID, RunID } from "../api/types";
import { openPanel } from "../dock/dock";
import { plural } from "../model/format";
import { hasTalk, REWIND_PANEL, rewindStore } from "../model/rewind";
import { toast, toastFailure } from "../model/stores";
import { putBack } from "./drafts";
import { session } from "./session";

/** Opens the panel that says what going back to before a run's prompt would do. */
export function goBackTo(channel: ChannelID, run: RunID) {
  if (!channel || !run) return;
  rewindStore.setState((all) => ({ [channel]: { run, visit: (all[channel]?.visit ?? 0) + 1 } }));
  openPanel({ kind: REWIND_PANEL, data: null });
}

/** Goes back. The prompt comes back to the box as it was sent, before what was typed since. Throws a failure. */
export async function goBack(channel: ChannelID, run: RunID, req: BackRequest) {
  const out = await session().api.rewind.back(run, req);
  if (hasTalk(req.what)) {
    const { text, plan, attachments, model, effort } = out;
    putBack(channel, text, { plan, attachments, model, effort });
  }
  const files = out.files > 0 ? ` ${plural(out.files, "file")} changed.` : "";
  toast([`Went back.${files}`, ...(out.notices ?? [])].join(" "), null, { name: "Undo", run: () => void undo(out.id) });
}

const undoing = new Set<string>();

export async function undo(id: string) {
  if (undoing.has(id)) return;
  undoing.add(id);
  try {
    const out = await session().api.rewind.undo(id);
    toast(["Undone.", ...(out.notices ?? [])].join(" "));
  } catch (err) {
    toastFailure(toFailure(err));
  } finally {
    undoing.delete(id);
  }
}
