import { CornerDownRight } from "lucide-react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { frameStore } from "../../model/stores";
import { SafeText } from "../../ui/SafeText";
import { goToOrigin } from "../../session/origin";
import "./continues.css";

/** Says what a thread's conversation continues, and leads there. */
export function Continues({ channelId }: { channelId: ChannelID }) {
  const origin = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.origin);
  const from = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === origin?.channel_id)?.name);
  if (!origin?.channel_id) return null;
  const words = origin.words ?? "";
  if (from === undefined) {
    return (
      <p className="continues column">
        <CornerDownRight size={13} aria-hidden />
        <span className="ellipsis">Continues a conversation whose channel was removed{words && <>: “<SafeText text={words} />”</>}</span>
      </p>
    );
  }
  return (
    <p className="continues column">
      <CornerDownRight size={13} aria-hidden />
      <button type="button" className="link ellipsis" onClick={() => void goToOrigin(origin)}>
        Continues <SafeText text={from} />{words && <>: “<SafeText text={words} />”</>}
      </button>
    </p>
  );
}
