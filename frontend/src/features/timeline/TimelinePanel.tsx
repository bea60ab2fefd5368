import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { timelineOf, timelinesStore } from "../../model/stores";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Continues } from "./Continues";
import { Composer } from "./prompt/Composer";
import { session } from "../../session/session";
import { EmptyTimeline } from "./EmptyTimeline";
import { FindBar } from "./FindBar";
import { FrameDialog } from "./FrameDialog";
import { TimelineList } from "./TimelineList";
import { TimelineSkeleton } from "./TimelineSkeleton";
import { filtersStore, setFilter } from "./TimelineTools";
import "./timeline.css";
import "./narrow.css";

/** The panel of a channel's timeline, with its prompt box. */
export function TimelinePanel({ channelId }: { channelId: ChannelID }) {
  const phase = useStore(timelinesStore, (all) => timelineOf(all, channelId).phase);
  const failure = useStore(timelinesStore, (all) => timelineOf(all, channelId).failure);
  const bare = useStore(timelinesStore, (all) => {
    const t = timelineOf(all, channelId);
    return t.built.items.length === 0 && t.queue.length === 0;
  });
  const filter = useStore(filtersStore, (all) => all[channelId] ?? "all");
  return (
    <section className="panel findbar-marked" aria-label="Timeline">
      <h2 className="sr-only">Timeline</h2>
      <Continues channelId={channelId} />
      <div className="panel-body">
        <FindBar channelId={channelId} />
        {phase === "ready" && bare ? (
          <EmptyTimeline channelId={channelId} />
        ) : phase === "ready" ? (
          <TimelineList channelId={channelId} filter={filter} onClearFilter={() => setFilter(channelId, "all")} />
        ) : phase === "error" && failure ? (
          <div className="column pad">
            <FailureCard failure={failure}>
              <Button look="small" onClick={() => void session().load(channelId)}>Load again</Button>
            </FailureCard>
          </div>
        ) : (
          <TimelineSkeleton />
        )}
      </div>
      <Composer channelId={channelId} />
      <FrameDialog channelId={channelId} />
    </section>
  );
}
