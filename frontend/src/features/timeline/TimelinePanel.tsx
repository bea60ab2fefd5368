import { List, ListFilter } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { frameStore, timelineOf, timelinesStore } from "../../model/stores";
import type { Filter } from "../../model/timeline/filter";
import { FILTERS } from "../../model/timeline/filter";
import { elidePath, visible } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Composer } from "../prompt/Composer";
import { session } from "../frame/session";
import { EmptyTimeline } from "./EmptyTimeline";
import { TimelineList } from "./TimelineList";
import { TimelineSkeleton } from "./TimelineSkeleton";
import "./timeline.css";

/** One panel of the centre: the timeline of a channel with its prompt box. */
export function TimelinePanel({ channelId }: { channelId: ChannelID }) {
  const phase = useStore(timelinesStore, (all) => timelineOf(all, channelId).phase);
  const failure = useStore(timelinesStore, (all) => timelineOf(all, channelId).failure);
  const bare = useStore(timelinesStore, (all) => {
    const t = timelineOf(all, channelId);
    return t.built.items.length === 0 && t.queue.length === 0;
  });
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId));
  const [filter, setFilter] = useState<Filter>("all");
  useEffect(() => {
    document.title = channel ? `${visible(channel.name)} · Loop` : "Loop";
    return () => {
      document.title = "Loop";
    };
  }, [channel]);
  return (
    <section className="panel" aria-label="Timeline">
      <div className="panel-head">
        <h2 className="tab">
          <List size={14} aria-hidden /> Timeline
        </h2>
        <span className="panel-dir mono ellipsis" title={channel?.dir}>
          {channel ? elidePath(visible(channel.dir), 60) : ""}
        </span>
        <FilterMenu filter={filter} onChange={setFilter} />
      </div>
      <div className="panel-body">
        {phase === "ready" && bare ? (
          <EmptyTimeline channelId={channelId} />
        ) : phase === "ready" ? (
          <TimelineList channelId={channelId} filter={filter} onClearFilter={() => setFilter("all")} />
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
    </section>
  );
}

function FilterMenu({ filter, onChange }: { filter: Filter; onChange(f: Filter): void }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton name={`Show: ${FILTERS[filter]}`} className={filter === "all" ? "" : "on"}>
          <ListFilter size={15} />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          <DropdownMenu.RadioGroup value={filter} onValueChange={(v) => onChange(v as Filter)}>
            {Object.entries(FILTERS).map(([value, word]) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
                <span className="menu-dot">{filter === value ? "•" : ""}</span>
                {word}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
