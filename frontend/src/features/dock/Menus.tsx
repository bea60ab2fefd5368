import { ChevronRight, Columns2, Disc, Ellipsis, Equal, Film, Maximize2, Minimize2, Monitor, Move, Pencil, Plus, RadioTower, Rows2, Sparkles, SquareTerminal, X } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { keyOf } from "../../model/dock/keys";
import type { Group, Layout, Panel } from "../../model/dock/layout";
import { panelOfSession } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import { viewStore } from "../../model/stores";
import { KIND_NAMES, sessionsOf } from "../../model/terminals/sessions";
import { sessionDetail, sessionTitle } from "../../model/terminals/titles";
import { visible } from "../../model/text";
import { IconButton, Kbd } from "../../ui/Button";
import { isMac } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { evenOut, goInto, layoutOf, moveTab, openTerminal, requestClose, runDockKey, showSession, split, toggleBroadcast, toggleRecord, toggleZoom } from "./dock";
import { hintOf } from "./hints";
import { SessionIcon, useFace } from "./Tab";

const KIND_ICONS = { agent: Sparkles, shell: SquareTerminal, host: Monitor };

/** Keeps the focus where the chosen thing put it. */
const stay = (e: Event) => e.preventDefault();

export function Entry({ icon, name, hint, disabled, danger, onSelect }: { icon?: ReactNode; name: ReactNode; hint?: string; disabled?: boolean; danger?: boolean; onSelect(): void }) {
  return (
    <DropdownMenu.Item className={`menu-item ${danger ? "danger" : ""}`} disabled={disabled} onSelect={() => setTimeout(onSelect)}>
      {icon}
      {name}
      {hint && <Kbd>{hint}</Kbd>}
    </DropdownMenu.Item>
  );
}

/** New terminals, and those that go on without a pane. */
export function NewMenu({ channelId, group }: { channelId: ChannelID; group: Group }) {
  const sessions = useStore(sessionsStore);
  const layout = layoutOf(channelId);
  const hidden = sessionsOf(sessions, channelId).filter((t) => !panelOfSession(layout, t.session_id));
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton small name={hidden.length > 0 ? `Open a terminal (${hidden.length} without a pane)` : "Open a terminal"} className={hidden.length > 0 ? "dotted" : ""}>
          <Plus size={15} />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4} onCloseAutoFocus={stay}>
          {(["agent", "shell", "host"] as const).map((kind) => {
            const I = KIND_ICONS[kind];
            return <Entry key={kind} icon={<I size={14} aria-hidden className={kind === "host" ? "host" : ""} />} name={KIND_NAMES[kind]} hint={kind === "agent" ? hintOf("new") : ""} onSelect={() => openTerminal(kind, group.panels.length === 1 && layout.panels[group.active]?.kind === "timeline" ? "" : group.id)} />;
          })}
          {hidden.length > 0 && (
            <>
              <DropdownMenu.Separator className="menu-line" />
              <DropdownMenu.Label className="menu-label">Without a pane</DropdownMenu.Label>
              {hidden.map((t) => (
                <Entry key={t.session_id} icon={<SessionIcon t={t} />} name={<><span className="ellipsis" title={visible(sessionDetail(t))}><SafeText text={sessionTitle(t)} /></span><span className="menu-word">{t.state === "running" ? (t.shell === "prompt" ? "waits" : "running") : t.state}</span></>} onSelect={() => showSession(t, layout.panels[group.active]?.kind === "timeline" ? "" : group.id)} />
              ))}
            </>
          )}
          <DropdownMenu.Separator className="menu-line" />
          <Entry icon={<Film size={14} aria-hidden />} name="Recordings" onSelect={() => viewStore.setState({ dialog: "recordings" })} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** What can be done with the panel in front. */
export function PanelMenu({ layout, group, panel }: { channelId: ChannelID; layout: Layout; group: Group; panel: Panel }) {
  const open = useStore(dockUi, (u) => u.menu === panel.id);
  const broadcast = useStore(dockUi, (u) => u.broadcast);
  const face = useFace(panel);
  const terminal = panel.kind === "terminal";
  const several = layout.root.kind === "split";
  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={(o) => dockUi.setState({ menu: o ? panel.id : "" })}>
      <DropdownMenu.Trigger asChild>
        <IconButton small name={`Actions for ${face.title}`}>
          <Ellipsis size={15} />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu dock-menu" align="end" sideOffset={4} onCloseAutoFocus={(e) => {
          e.preventDefault();
          if (dockUi.getState().renaming || dockUi.getState().closing) return;
          if (terminal) goInto(panel.id);
          else document.getElementById(`tab-${panel.id}`)?.focus();
        }}>
          <Entry icon={<Columns2 size={14} aria-hidden />} name="Split right" hint={hintOf("split-right")} onSelect={() => split("right", panel.id)} />
          <Entry icon={<Rows2 size={14} aria-hidden />} name="Split down" hint={hintOf("split-down")} onSelect={() => split("down", panel.id)} />
          <DropdownMenu.Separator className="menu-line" />
          <Entry icon={layout.zoom ? <Minimize2 size={14} aria-hidden /> : <Maximize2 size={14} aria-hidden />} name={layout.zoom ? "Show all panes" : "Show alone"} hint={keyOf("zoom", isMac)} disabled={!several} onSelect={() => { goInto(panel.id); toggleZoom(); }} />
          <DropdownMenu.Sub>
            <DropdownMenu.SubTrigger className="menu-item" disabled={!several && group.panels.length < 2}>
              <Move size={14} aria-hidden /> Move <ChevronRight size={14} aria-hidden className="menu-more" />
            </DropdownMenu.SubTrigger>
            <DropdownMenu.Portal>
              <DropdownMenu.SubContent className="menu" sideOffset={6}>
                {(["left", "right", "up", "down"] as const).map((side) => (
                  <Entry key={side} name={{ left: "Left", right: "Right", up: "Up", down: "Down" }[side]} onSelect={() => { moveTab(side, panel.id); goInto(panel.id); }} />
                ))}
              </DropdownMenu.SubContent>
            </DropdownMenu.Portal>
          </DropdownMenu.Sub>
          <Entry icon={<Move size={14} aria-hidden />} name="Arrange by keys" hint={keyOf("arrange", isMac)} disabled={!several && group.panels.length < 2} onSelect={() => { goInto(panel.id); runDockKey({ do: "arrange" }); }} />
          <Entry icon={<Equal size={14} aria-hidden />} name="Make all the same size" disabled={!several} onSelect={evenOut} />
          {terminal && (
            <>
              <DropdownMenu.Separator className="menu-line" />
              <Entry icon={<RadioTower size={14} aria-hidden />} name={broadcast ? "Type into one again" : "Type into all visible"} hint={keyOf("broadcast", isMac)} onSelect={toggleBroadcast} />
              <Entry icon={<Pencil size={14} aria-hidden />} name="Rename" hint="F2" disabled={!face.session} onSelect={() => dockUi.setState({ renaming: panel.id })} />
              <Entry icon={<Disc size={14} aria-hidden />} name={face.recording ? "Stop recording" : "Record"} disabled={!face.recording && face.state !== "running"} onSelect={() => toggleRecord(panel.id)} />
              <DropdownMenu.Separator className="menu-line" />
              <Entry icon={<X size={14} aria-hidden />} name="Close" danger hint={hintOf("close")} onSelect={() => requestClose(panel.id)} />
            </>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
