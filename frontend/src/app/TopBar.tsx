import { ChevronRight, PanelLeft, Search, SlidersHorizontal } from "lucide-react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../model/stores";
import { visible } from "../model/text";
import { IconButton, KeyOf } from "../ui/Button";
import { LoopMark } from "../ui/Mark";
import { WaitingPill } from "../features/gate/WaitingPill";
import { openDialog, select, toggleSidebar } from "../session/actions";
import { useAriaKeys } from "../ui/keys";

export function TopBar() {
  const paletteKeys = useAriaKeys("page.palette");
  const selected = useStore(viewStore, (v) => v.selected);
  const page = useStore(viewStore, (v) => v.page);
  const sidebarOpen = useStore(viewStore, (v) => v.sidebarOpen);
  const narrow = useStore(viewStore, (v) => v.narrow);
  const channels = useStore(frameStore, (f) => f.channels);
  const channel = channels.find((c) => c.channel_id === selected);
  const parent = channel?.parent_id ? channels.find((c) => c.channel_id === channel.parent_id) : undefined;
  return (
    <header className="topbar">
      <div className="topbar-brand">
        <button type="button" className="brand" onClick={() => select("")} title="Welcome and checks">
          <LoopMark />
          <span>Loop</span>
        </button>
        {narrow !== "rail" && <IconButton data-sidebar name={sidebarOpen ? "Hide the sidebar" : "Show the sidebar"} action="page.sidebar" aria-pressed={sidebarOpen} onClick={toggleSidebar}>
          <PanelLeft size={15} />
        </IconButton>}
      </div>
      <div className="crumbs">
        {parent && (
          <>
            <span className="crumb-parent ellipsis">{visible(parent.name)}</span>
            <ChevronRight size={13} aria-hidden />
          </>
        )}
        <h1 className="ellipsis">{channel ? visible(channel.name) : page === "containers" ? "Containers" : page === "desk" ? "Desk" : "Welcome"}</h1>
      </div>
      <button type="button" className="searchbox" onClick={() => openDialog("palette")} aria-keyshortcuts={paletteKeys}>
        <Search size={14} aria-hidden />
        <span className="ellipsis">Go to channel, file or command</span>
        <KeyOf of="page.palette" />
      </button>
      <WaitingPill />
      <IconButton name="Settings" action="page.settings" onClick={() => openDialog("settings")}>
        <SlidersHorizontal size={15} />
      </IconButton>
    </header>
  );
}
