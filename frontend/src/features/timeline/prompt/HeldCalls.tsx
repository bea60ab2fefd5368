import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { approvalsOf, inTimeline } from "../../../model/gate";
import { frameStore } from "../../../model/stores";
import { ApprovalBanner } from "../../../ui/approval/ApprovalBanner";
import { review } from "../../../session/gate";

/** Stands above the prompt box while calls of this channel are held, also where their cards are out of sight. */
export function HeldCalls({ channelId }: { channelId: ChannelID }) {
  const all = useStore(frameStore, (f) => f.approvals);
  const here = approvalsOf(all, channelId);
  const first = here[0];
  if (!first) return null;
  const runs = here.some(inTimeline);
  return (
    <ApprovalBanner a={first} more={here.length - 1} onReview={() => review(first)}
      note={runs ? "The agent stands still until you answer. A prompt that you send waits too." : "A program in a terminal stands still until you answer."} />
  );
}
