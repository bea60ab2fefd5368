import { ListFilter, SquarePen } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../../api/types";
import { frameStore } from "../../model/stores";
import { elidePath, visible } from "../../model/text";
import type { Filter } from "../../model/timeline/filter";
import { FILTERS } from "../../model/timeline/filter";
import { IconButton } from "../../ui/Button";
import { Menu } from "../../ui/Menu";
import { wishesStore } from "../../model/wish";
import { toggleFresh } from "../../session/actions";
import { wishIn } from "../../session/drafts";

export const filtersStore = createStore<Record<ChannelID, Filter>>(() => ({}));

export function setFilter(channel: ChannelID, filter: Filter) {
  filtersStore.setState({ [channel]: filter });
}

/** The tools beside the timeline's tab: the channel's folder, and the filter of the timeline. */
export function TimelineTools({ channelId }: { channelId: ChannelID }) {
  const dir = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.dir ?? "");
  const fresh = useStore(wishesStore, (all) => wishIn(all, channelId).fresh);
  const filter = useStore(filtersStore, (all) => all[channelId] ?? "all");
  return (
    <>
      <span className="dock-path mono ellipsis" title={dir}>{elidePath(visible(dir), 60)}</span>
      <IconButton name="New conversation" action="prompt.fresh" aria-pressed={fresh} className={fresh ? "on" : ""} onClick={() => toggleFresh(channelId)}><SquarePen size={15} /></IconButton>
      <Menu align="end" button={<IconButton name={`Show: ${FILTERS[filter]}`} className={filter === "all" ? "" : "on"}><ListFilter size={15} /></IconButton>}>
        <DropdownMenu.RadioGroup value={filter} onValueChange={(v) => setFilter(channelId, v as Filter)}>
          {Object.entries(FILTERS).map(([value, word]) => (
            <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
              <span className="menu-dot">{filter === value ? "•" : ""}</span>
              {word}
            </DropdownMenu.RadioItem>
          ))}
        </DropdownMenu.RadioGroup>
      </Menu>
    </>
  );
}
