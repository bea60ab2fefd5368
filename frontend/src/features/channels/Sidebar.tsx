import { Boxes, LayoutGrid, Play, Plus } from "lucide-react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../../model/stores";
import { IconButton, KeyOf } from "../../ui/Button";
import { StateWord } from "../../ui/StateWord";
import { openContainers, openDemo, openFolder, select } from "../../session/actions";
import { openDesk } from "../../session/desk";
import { useChannels } from "../../session/useChannels";
import { ChannelMenu } from "./ChannelMenu";
import { ChannelTree } from "./ChannelTree";
import { SelectedContainer } from "./SelectedContainer";
import { useKeyText } from "../../ui/keys";
import "./channels.css";

export function Sidebar() {
  const ready = useStore(frameStore, (f) => f.ready);
  const selected = useStore(viewStore, (v) => v.selected);
  const demo = useChannels().find((c) => c.kind === "demo");
  const desk = useStore(viewStore, (v) => !v.selected && v.page === "desk");
  const alone = useStore(viewStore, (v) => v.page === "containers");
  const containers = useStore(frameStore, (f) => f.containers.length);
  const deskKey = useKeyText()("page.desk");
  return (
    <nav className="sidebar" aria-label="Channels" data-region="sidebar">
      <ul className="side-list">
        <li className={`row ${desk ? "selected" : ""}`}>
          <button type="button" className="row-main" aria-current={desk ? "page" : undefined} onClick={openDesk}>
            <LayoutGrid size={14} aria-hidden />
            <span className="row-name ellipsis">Desk</span>
            {deskKey ? <KeyOf of="page.desk" /> : <><KeyOf of="page.next-waiting" /><KeyOf of="page.next-waiting" /></>}
          </button>
        </li>
      </ul>
      <div className="side-head">
        <h2>Projects</h2>
        <IconButton name="Open a project folder" action="page.open-folder" small onClick={() => void openFolder()}>
          <Plus size={15} />
        </IconButton>
      </div>
      {ready ? <ChannelTree /> : <TreeSkeleton />}
      <div className="side-head">
        <h2>Other</h2>
      </div>
      <ul className="side-list">
        <li className={`row ${demo && selected === demo.channel_id ? "selected" : ""}`}>
          <button type="button" className="row-main" aria-current={demo && selected === demo.channel_id ? "page" : undefined} onClick={() => (demo ? select(demo.channel_id) : void openDemo())}>
            <Play size={14} aria-hidden />
            <span className="row-name ellipsis">Demo channel</span>
            {demo && demo.state !== "idle" ? <StateWord state={demo.state} driven={demo.driven === true} since={demo.running_since} queued={demo.queued} /> : <span className="state">no key needed</span>}
          </button>
          {demo && <ChannelMenu channel={demo} />}
        </li>
        <li className={`row ${alone ? "selected" : ""}`}>
          <button type="button" className="row-main" aria-current={alone ? "page" : undefined} onClick={openContainers}>
            <Boxes size={14} aria-hidden />
            <span className="row-name ellipsis">Containers</span>
            <span className="state tnum">{containers}</span>
          </button>
        </li>
      </ul>
      <SelectedContainer />
    </nav>
  );
}

function TreeSkeleton() {
  return (
    <div className="tree-skeleton" aria-hidden="true">
      {[70, 46, 58].map((w) => (
        <div key={w} className="skeleton" style={{ width: `${w}%` }} />
      ))}
    </div>
  );
}
