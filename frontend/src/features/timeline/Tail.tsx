import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { elapsed } from "../../model/format";
import { frameStore, outboxStore, timelineOf, timelinesStore } from "../../model/stores";
import { visible } from "../../model/text";
import { activeRun, waitsLonger } from "../../model/timeline/state";
import { Spinner } from "../../ui/Mark";
import { useNow } from "../../ui/useNow";
import { Starting } from "./rows/StartRow";

/** The last row: what is going on now, or the prompt that is about to begin. */
export function Tail({ channelId }: { channelId: ChannelID }) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const letter = useStore(outboxStore, (o) => o.letters.find((l) => l.channelId === channelId && l.state === "sending"));
  const parked = useStore(frameStore, (f) => f.questions.some((q) => q.channel_id === channelId));
  const run = activeRun(t);
  const now = useNow(Boolean(run));
  if (!run) {
    const first = t.queue.find((r) => !waitsLonger(r));
    const next = parked ? undefined : (first?.prompt ?? letter?.prompt);
    if (next === undefined) return <div className="tail-space" />;
    return (
      <div className="column">
        <div className="item prompt"><div className="main"><div className="bubble"><p>{next}</p></div></div></div>
        <Starting word={first ? "Starting" : "Sending"} />
      </div>
    );
  }
  const last = t.built.items.at(-1);
  if (last?.kind === "start" && !last.readyAt) return <div className="tail-space" />;
  const word = run.activity || "Working";
  return (
    <div className="column item now" aria-live="off">
      <div className="main">
        <Spinner size={13} />
        <span className="ellipsis">{visible(word)}</span>
      </div>
      <span className="gutter tnum">{elapsed(now - run.startedAt)}</span>
    </div>
  );
}
