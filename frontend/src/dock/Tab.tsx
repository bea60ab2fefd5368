import { Bell, Circle, CircleSlash, SquareX, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import * as change from "../model/dock/change";
import type { Panel } from "../model/dock/layout";
import { TIMELINE } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";
import { visible } from "../model/text";
import { SafeText } from "../ui/SafeText";
import { beginRename, goInto, requestClose } from "./dock";
import { beginDrag } from "./drag";
import { update } from "./layouts";
import type { Face } from "./panels";
import { kindOf, useFace } from "./panels";
import { useSettled } from "./useSettled";

type Props = { channelId: ChannelID; panel: Panel; active: boolean; front: boolean; onKeyDown(e: KeyboardEvent): void };

/** Title, kind and state of a panel, in the strip of its group. */
export function Tab({ channelId, panel, active, front, onKeyDown }: Props) {
  const { id } = panel;
  const dragged = useStore(dockUi, (u) => u.drag?.panel === id);
  const kind = kindOf(panel);
  const face = useFace(panel);
  const title = useSettled(face.title);
  const closes = id !== TIMELINE;
  return (
    <div className={`dock-tab ${active ? "active" : ""} ${front ? "front" : ""} ${dragged ? "dragged" : ""}`} role="presentation" onContextMenu={(e) => {
      e.preventDefault();
      update(channelId, (l) => change.activate(l, id));
      dockUi.setState({ menu: id });
    }}>
      <div
        role="tab" id={`tab-${id}`} aria-controls={`panel-${id}`} aria-selected={active} tabIndex={active ? 0 : -1} title={visible(face.detail) || title}
        aria-keyshortcuts={`${closes ? "Delete " : ""}${kind.rename ? "F2 " : ""}Shift+F10`}
        onPointerDown={(e) => beginDrag(e, channelId, id)}
        onClick={() => (kind.enters ? goInto(id) : update(channelId, (l) => change.activate(l, id)))}
        onAuxClick={(e) => e.button === 1 && requestClose(id)}
        onDoubleClick={() => beginRename(id)}
        onKeyDown={onKeyDown}
      >
        {kind.icon(panel, 14)}
        <span className="dock-name ellipsis"><SafeText text={title} /></span>
        {kind.onHost?.(panel) && <span className="dock-host dock-word">This computer</span>}
        <Marks face={face} active={active} />
      </div>
      {closes && (
        // The cross is for the mouse only, because a tab list may hold nothing but tabs. The Delete key closes a tab.
        <button type="button" className="dock-close" tabIndex={-1} aria-hidden title="Close" onClick={() => requestClose(id)}>
          <X size={13} />
        </button>
      )}
    </div>
  );
}

/** The marks of a panel's state in its tab. In little room the words go before the icons. */
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
