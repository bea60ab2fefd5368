import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { approvalsOf, inTimeline } from "../../model/gate";
import { frameStore } from "../../model/stores";
import { review } from "../../session/gate";
import { ApprovalBanner } from "../../ui/approval/ApprovalBanner";

/**
 * Lies over the terminals of a channel while a call of a program in one of them is held. It
 * takes no room from the terminal, whose size a program would notice.
 */
export function HeldProgram({ channelId }: { channelId: ChannelID }) {
  const all = useStore(frameStore, (f) => f.approvals);
  const here = approvalsOf(all, channelId).filter((a) => !inTimeline(a));
  const first = here[0];
  if (!first) return null;
  return (
    <div className="term-held">
      <ApprovalBanner a={first} more={here.length - 1} onReview={() => review(first)} />
    </div>
  );
}
