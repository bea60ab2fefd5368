import { Columns2, Disc, Ellipsis, Equal, Film, Maximize2, Minimize2, Monitor, Move, Pencil, Plus, RadioTower, Rows2, Sparkles, SquareTerminal, X } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import { keyOf } from "../model/dock/keys";
import type { Group, Layout, Panel } from "../model/dock/layout";
import { panelOfSession } from "../model/dock/layout";
import { dockUi, sessionsStore } from "../model/dock/store";
import { viewStore } from "../model/stores";
import { KIND_NAMES, sessionsOf } from "../model/terminals/sessions";
import { sessionDetail, sessionTitle } from "../model/terminals/titles";
import { visible } from "../model/text";
import { IconButton } from "../ui/Button";
import { isMac } from "../ui/keys";
import { Menu, MenuItem, MenuLine, SubMenu } from "../ui/Menu";
import { SafeText } from "../ui/SafeText";
import { evenOut, goInto, layoutOf, moveTab, openTerminal, requestClose, runDockKey, showSession, split, toggleBroadcast, toggleRecord, toggleZoom } from "./dock";
import { hintOf } from "./hints";
import { SessionIcon, useFace } from "./Tab";

const KIND_ICONS = { agent: Sparkles, shell: SquareTerminal, host: Monitor };

type Place = { channelId: ChannelID; group: Group };

/** Terminals that go on without a pane. */
function useHidden(channelId: ChannelID) {
  const sessions = useStore(sessionsStore);
  return sessionsOf(sessions, channelId).filter((t) => !panelOfSession(layoutOf(channelId), t.session_id));
}

export function NewMenu(place: Place) {
  const hidden = useHidden(place.channelId);
  return (
    <Menu align="end" button={
      <IconButton small name={hidden.length > 0 ? `Open a terminal (${hidden.length} without a pane)` : "Open a terminal"} className={`dock-plus ${hidden.length > 0 ? "dotted" : ""}`}>
        <Plus size={15} />
      </IconButton>
    }>
      <NewItems {...place} />
    </Menu>
  );
}

/** New terminals, those without a pane, and what was recorded. */
function NewItems({ channelId, group }: Place) {
  const hidden = useHidden(channelId);
  const layout = layoutOf(channelId);
  const front = layout.panels[group.active]?.kind;
  return (
    <>
      {(["agent", "shell", "host"] as const).map((kind) => {
        const I = KIND_ICONS[kind];
        return <MenuItem key={kind} icon={<I size={14} aria-hidden className={kind === "host" ? "host" : ""} />} name={KIND_NAMES[kind]} hint={kind === "agent" ? hintOf("new") : ""} onSelect={() => openTerminal(kind, group.panels.length === 1 && front === "timeline" ? "" : group.id)} />;
      })}
      {hidden.length > 0 && (
        <>
          <MenuLine />
          <DropdownMenu.Label className="menu-label">Without a pane</DropdownMenu.Label>
          {hidden.map((t) => (
            <MenuItem key={t.session_id} icon={<SessionIcon t={t} />} name={<><span className="ellipsis" title={visible(sessionDetail(t))}><SafeText text={sessionTitle(t)} /></span><span className="menu-word">{t.state === "running" ? (t.shell === "prompt" ? "waits" : "running") : t.state}</span></>} onSelect={() => showSession(t, front === "timeline" ? "" : group.id)} />
          ))}
        </>
      )}
      <MenuLine />
      <MenuItem icon={<Film size={14} aria-hidden />} name="Recordings" onSelect={() => viewStore.setState({ dialog: "recordings" })} />
    </>
  );
}

/** What can be done with the panel in front; opens: also what the plus button has, where it has no place. */
export function PanelMenu({ channelId, layout, group, panel, opens }: Place & { layout: Layout; panel: Panel; opens: boolean }) {
  const open = useStore(dockUi, (u) => u.menu === panel.id);
  const broadcast = useStore(dockUi, (u) => u.broadcast);
  const face = useFace(panel);
  const terminal = panel.kind === "terminal";
  const several = layout.root.kind === "split";
  return (
    <Menu className="dock-menu" align="end" open={open} onOpenChange={(o) => dockUi.setState({ menu: o ? panel.id : "" })} button={
      <IconButton small name={`Actions for ${face.title}`}>
        <Ellipsis size={15} />
      </IconButton>
    }>
      {opens && <NewItems channelId={channelId} group={group} />}
      {opens && <MenuLine />}
      <MenuItem icon={<Columns2 size={14} aria-hidden />} name="Split right" hint={hintOf("split-right")} onSelect={() => split("right", panel.id)} />
      <MenuItem icon={<Rows2 size={14} aria-hidden />} name="Split down" hint={hintOf("split-down")} onSelect={() => split("down", panel.id)} />
      <MenuLine />
      <MenuItem icon={layout.zoom ? <Minimize2 size={14} aria-hidden /> : <Maximize2 size={14} aria-hidden />} name={layout.zoom ? "Show all panes" : "Show alone"} hint={keyOf("zoom", isMac)} disabled={!several} onSelect={() => { goInto(panel.id); toggleZoom(); }} />
      <SubMenu icon={<Move size={14} aria-hidden />} name="Move" disabled={!several && group.panels.length < 2}>
        {(["left", "right", "up", "down"] as const).map((side) => (
          <MenuItem key={side} name={{ left: "Left", right: "Right", up: "Up", down: "Down" }[side]} onSelect={() => { moveTab(side, panel.id); goInto(panel.id); }} />
        ))}
      </SubMenu>
      <MenuItem icon={<Move size={14} aria-hidden />} name="Arrange by keys" hint={keyOf("arrange", isMac)} disabled={!several && group.panels.length < 2} onSelect={() => { goInto(panel.id); runDockKey({ do: "arrange" }); }} />
      <MenuItem icon={<Equal size={14} aria-hidden />} name="Make all the same size" disabled={!several} onSelect={evenOut} />
      {terminal && (
        <>
          <MenuLine />
          <MenuItem icon={<RadioTower size={14} aria-hidden />} name={broadcast ? "Type into one again" : "Type into all visible"} hint={keyOf("broadcast", isMac)} onSelect={toggleBroadcast} />
          <MenuItem icon={<Pencil size={14} aria-hidden />} name="Rename" hint="F2" disabled={!face.session} onSelect={() => dockUi.setState({ renaming: panel.id })} />
          <MenuItem icon={<Disc size={14} aria-hidden />} name={face.recording ? "Stop recording" : "Record"} disabled={!face.recording && face.state !== "running"} onSelect={() => toggleRecord(panel.id)} />
          <MenuLine />
          <MenuItem icon={<X size={14} aria-hidden />} name="Close" danger hint={hintOf("close")} onSelect={() => requestClose(panel.id)} />
        </>
      )}
    </Menu>
  );
}
