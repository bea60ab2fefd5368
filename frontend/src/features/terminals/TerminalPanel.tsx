import { SquareTerminal } from "lucide-react";
import { useCallback, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { broadcast, closePane, requestClose, runDockKey, split } from "../../dock/dock";
import { update } from "../../dock/layouts";
import * as change from "../../model/dock/change";
import { dockKey } from "../../model/dock/keys";
import type { Layout, Panel, PanelID } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import { frameStore } from "../../model/stores";
import type { TerminalData } from "../../model/terminals/panel";
import { Button } from "../../ui/Button";
import { later } from "../../ui/Later";
import { pressNext } from "../../session/desk";
import { keysStore } from "../../model/keys/store";
import { pressed } from "../../ui/keys";
import type { PaneAction, PaneHandle, PaneInfo } from "./props";
import { openTerminal, restart } from "./actions";
import { CloseDialog } from "./CloseDialog";
import { HeldProgram } from "./HeldProgram";
import { terminalSettings, zoomStore, zoomText } from "./look";
import { forget, handles, told } from "./panes";

// xterm.js is half as large as the rest of the page, so it is loaded with the first terminal.
const TerminalView = later("The terminal", () => import("./TerminalView"), (m) => m.TerminalView, { ahead: false });

type Props = { channelId: ChannelID; panel: Panel<TerminalData> };

/** One terminal in the dock. It turns the wishes of its pane into actions of the dock. */
export function TerminalPanel({ channelId, panel }: Props) {
  const { id, data } = panel;
  const info = useStore(sessionsStore, (s) => s.byId[data.session] ?? null);
  const known = useStore(sessionsStore, (s) => s.known);
  const focused = useStore(dockUi, (u) => u.keyboard === id);
  const look = useStore(frameStore, (f) => f.config?.terminal);
  const by = useStore(zoomStore, (z) => z.by);
  const settings = useMemo(() => terminalSettings(look, by), [look, by]);

  const onInfo = useCallback((i: PaneInfo) => {
    told(id, i);
    if (i.sessionId) update(channelId, (l) => withSession(l, id, i.sessionId));
  }, [id, channelId]);
  const onHandle = useCallback((h: PaneHandle | null) => {
    if (h) handles.set(id, h);
    else handles.delete(id);
  }, [id]);
  const onAction = useCallback((a: PaneAction) => {
    switch (a) {
      case "focus":
        if (dockUi.getState().keyboard !== id) dockUi.setState({ keyboard: id });
        return update(channelId, (l) => change.activate(l, id));
      case "split-right": return split("right", id);
      case "split-down": return split("down", id);
      case "new": return openTerminal("agent");
      case "close": return requestClose(id);
      case "restart": return restart(id);
      case "zoom-in": return zoomText(1);
      case "zoom-out": return zoomText(-1);
      case "zoom-reset": return zoomText(0);
    }
  }, [id, channelId]);
  const onKey = useCallback((e: KeyboardEvent) => {
    const page = pressed("page", e);
    if ((page === "page.next-waiting" || page === "page.previous-waiting") && frameStore.getState().approvals.length > 0) {
      if (!e.repeat) pressNext(page === "page.previous-waiting");
      return true;
    }
    const k = dockKey(e, keysStore.getState().map, true);
    return k !== null && runDockKey(k);
  }, []);
  const onInput = useCallback((typed: string | Uint8Array) => broadcast(id, typed), [id]);
  useEffect(() => () => forget(id), [id]);

  // The panel is from an earlier visit, and its session no longer exists.
  if (known && data.session && !info && !data.create) {
    return (
      <div className="dock-empty" data-region>
        <SquareTerminal size={20} aria-hidden />
        <h2>This terminal is no longer there</h2>
        <p>Its session ended while this page did not show it, with its container or with Loop.</p>
        <div className="dock-empty-do">
          <Button look="primary" onClick={() => restart(id)}>Open a new one here</Button>
          <Button onClick={() => closePane(id)}>Close</Button>
        </div>
      </div>
    );
  }
  return (
    <>
      {/* A terminal behind another tab stays attached, so that its bell is noticed. */}
      <TerminalView
        {...(data.session ? { sessionId: data.session } : {})} {...(data.create ? { create: data.create } : {})}
        info={info} visible focused={focused} settings={settings}
        onInfo={onInfo} onHandle={onHandle} onAction={onAction} onKey={onKey} onInput={onInput}
      />
      {data.target !== "host" && <HeldProgram channelId={channelId} />}
      <CloseDialog panel={panel} />
    </>
  );
}

/** Puts the id of a newly made session into its panel. */
function withSession(l: Layout, id: PanelID, session: string): Layout {
  const data = l.panels[id]?.data as TerminalData | undefined;
  return !data || data.session === session ? l : change.setData(l, id, { ...data, session });
}
