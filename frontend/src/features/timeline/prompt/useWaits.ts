import { useStore } from "zustand";
import type { ChannelID, Wait } from "../../../api/types";
import { questionOf } from "../../../model/questions";
import { frameStore, timelineOf, timelinesStore } from "../../../model/stores";
import { activeRun } from "../../../model/timeline/state";
import { allBusy, waits } from "../../../model/waits";
import { useNow } from "../../../ui/useNow";

/** The reason why each prompt of a queue waits, the time of this judgement, and whether a question is open. */
export function useWaits(channelId: ChannelID): { wait: Wait[]; now: number; parked: boolean } {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const question = useStore(frameStore, (f) => questionOf(f.questions, channelId));
  const full = useStore(frameStore, allBusy);
  const now = useNow(t.queue.some((r) => r.not_before || r.hold_until));
  return { wait: waits(t.queue, { question, running: activeRun(t) !== null, full, now }), now, parked: question !== undefined };
}
