import { History } from "lucide-react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { leavingStore } from "../../../model/rewind";
import { timelineOf, timelinesStore } from "../../../model/stores";
import { SafeText } from "../../../ui/SafeText";

/** The prompt that would come back to the box, while its way back is looked at. */
export function ComingBack({ channelId }: { channelId: ChannelID }) {
  const leaving = useStore(leavingStore, (all) => all[channelId]);
  const text = useStore(timelinesStore, (all) => {
    const it = leaving?.words ? timelineOf(all, channelId).built.items.find((x) => x.kind === "prompt" && x.runId === leaving.run) : undefined;
    return it?.kind === "prompt" ? it.text : "";
  });
  if (!text) return null;
  return (
    <div className="prompt-coming">
      <p><SafeText text={text} /></p>
      <span><History size={13} aria-hidden /> Comes back here to be changed or sent again</span>
    </div>
  );
}
