import { Bell, Circle, CircleSlash, List, Monitor, Sparkles, SquareTerminal, SquareX, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import type { TerminalInfo } from "../api/types";
import * as change from "../model/dock/change";
import type { Panel } from "../model/dock/layout";
import { dockUi, sessionsStore } from "../model/dock/store";
import { frameStore } from "../model/stores";
import { visible } from "../model/text";
import { sessionDetail, sessionTitle } from "../model/terminals/titles";
import { SafeText } from "../ui/SafeText";
import { goInto, requestClose, update } from "./dock";
import { beginDrag } from "./drag";
import { panesStore } from "../features/terminals/panes";
import { useSettled } from "./useSettled";

type Props = { channelId: ChannelID; panel: Panel; active: boolean; front: boolean; onKeyDown(e: KeyboardEvent): void };

/** Title, kind and state of a panel, in the strip of its group. */
export function Tab({ channelId, panel, active, front, onKeyDown }: Props) {
  const { id } = panel;
  const dragged = useStore(dockUi, (u) => u.drag?.panel === id);
  const face = useFace(panel);
  const title = useSettled(face.title);
  return (
    <div className={`dock-tab ${active ? "active" : ""} ${front ? "front" : ""} ${dragged ? "dragged" : ""}`} role="presentation" onContextMenu={(e) => {
      e.preventDefault();
      update(channelId, (l) => change.activate(l, id));
      dockUi.setState({ menu: id });
    }}>
      <div
        role="tab" id={`tab-${id}`} aria-controls={`panel-${id}`} aria-selected={active} tabIndex={active ? 0 : -1} title={visible(face.detail) || title}
        aria-keyshortcuts={panel.kind === "terminal" ? "Delete F2 Shift+F10" : "Shift+F10"}
        onPointerDown={(e) => beginDrag(e, channelId, id)}
        onClick={() => (panel.kind === "terminal" ? goInto(id) : update(channelId, (l) => change.activate(l, id)))}
        onAuxClick={(e) => e.button === 1 && requestClose(id)}
        onDoubleClick={() => panel.kind === "terminal" && face.session && dockUi.setState({ renaming: id })}
        onKeyDown={onKeyDown}
      >
        <Icon panel={panel} />
        <span className="dock-name ellipsis"><SafeText text={title} /></span>
        {panel.kind === "terminal" && panel.target === "host" && <span className="dock-host dock-word">This computer</span>}
        <Marks face={face} active={active} />
      </div>
      {panel.kind === "terminal" && (
        // For the mouse only: a tab list holds nothing but tabs. Delete closes the tab.
        <button type="button" className="dock-close" tabIndex={-1} aria-hidden title="Close" onClick={() => requestClose(id)}>
          <X size={13} />
        </button>
      )}
    </div>
  );
}

/** What goes on behind a tab; the words go before the signs where there is little room. */
export function Marks({ face, active }: { face: Face; active: boolean }) {
  return (
    <>
      {face.recording && <span className="dock-mark rec" title="Recording"><Circle size={8} fill="currentColor" aria-hidden /><span className="sr-only">recording</span></span>}
      {face.bell ? (
        <span className="dock-mark need" title="A bell rang"><Bell size={12} aria-hidden /><span className="sr-only">bell</span></span>
      ) : face.unread && !active && (
        <span className="dock-mark" title="New output"><span className="dock-dot" aria-hidden /><span className="sr-only">new output</span></span>
      )}
      {face.state === "ended" && <span className="dock-state"><SquareX size={12} aria-hidden /><span className="dock-word">ended</span></span>}
      {face.state === "away" && <span className="dock-state need"><CircleSlash size={12} aria-hidden /><span className="dock-word">away</span></span>}
      {face.state === "running" && <span className="sr-only">running</span>}
    </>
  );
}

export function Icon({ panel, size = 14 }: { panel: Panel; size?: number }) {
  if (panel.kind === "timeline") return <List size={size} aria-hidden />;
  if (panel.target === "host") return <Monitor size={size} className="host" aria-hidden />;
  return panel.plain ? <SquareTerminal size={size} aria-hidden /> : <Sparkles size={size} aria-hidden />;
}

export function SessionIcon({ t, size = 14 }: { t: TerminalInfo; size?: number }) {
  if (t.target === "host") return <Monitor size={size} className="host" aria-hidden />;
  return t.plain || t.cmd?.length ? <SquareTerminal size={size} aria-hidden /> : <Sparkles size={size} aria-hidden />;
}

export type Face = ReturnType<typeof useFace>;

/** What is known of a panel: from its pane, and from the list of sessions. */
export function useFace(panel: Panel) {
  const pane = useStore(panesStore, (p) => p[panel.id]);
  const session = panel.kind === "terminal" ? panel.session : "";
  const info = useStore(sessionsStore, (s) => s.byId[session]);
  const known = useStore(sessionsStore, (s) => s.known);
  const marks = useStore(frameStore, (f) => f.config?.terminal?.bell !== "off");
  if (panel.kind === "timeline") return { title: "Timeline", detail: "", state: "", session, unread: false, bell: false, recording: "" };
  const gone = known && session !== "" && !info && !panel.create;
  const state = gone || pane?.state === "ended" || info?.state === "ended" ? "ended" : pane?.state === "away" || info?.state === "away" ? "away" : pane?.state === "live" ? "running" : "";
  return {
    title: info ? sessionTitle(info) : pane?.title || panel.create?.title || "Terminal", detail: info ? sessionDetail(info) : "", state, session,
    unread: pane?.unread ?? false, bell: marks && (pane?.bell ?? false), recording: pane?.recording || info?.recording || "",
  };
}
