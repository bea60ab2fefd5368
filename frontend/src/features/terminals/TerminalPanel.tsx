import { SquareTerminal } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import * as change from "../../model/dock/change";
import { dockKey } from "../../model/dock/keys";
import type { Panel } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import { frameStore } from "../../model/stores";
import { Button } from "../../ui/Button";
import { ErrorBoundary } from "../../ui/ErrorBoundary";
import { isMac } from "../../ui/keys";
import type { PaneAction, PaneHandle, PaneInfo } from "./props";
import { broadcast, closePane, openTerminal, requestClose, restart, runDockKey, split, update } from "../../dock/dock";
import { terminalSettings, zoomStore, zoomText } from "./look";
import { forget, handles, told } from "./panes";

// xterm.js is half as large as all the rest: fetched with the first terminal.
const load = () => import("./TerminalView").then((m) => ({ default: m.TerminalView }));
const TerminalView = lazy(load);

type Props = { channelId: ChannelID; panel: Extract<Panel, { kind: "terminal" }> };

/** One terminal in the dock: what its pane asks for becomes something the dock does. */
export function TerminalPanel({ channelId, panel }: Props) {
  const { id } = panel;
  const info = useStore(sessionsStore, (s) => s.byId[panel.session] ?? null);
  const known = useStore(sessionsStore, (s) => s.known);
  const focused = useStore(dockUi, (u) => u.keyboard === id);
  const look = useStore(frameStore, (f) => f.config?.terminal);
  const by = useStore(zoomStore, (z) => z.by);
  const settings = useMemo(() => terminalSettings(look, by), [look, by]);

  const onInfo = useCallback((i: PaneInfo) => {
    told(id, i);
    if (i.sessionId) update(channelId, (l) => change.setSession(l, id, i.sessionId));
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
    const k = dockKey(e, isMac, true);
    return k !== null && runDockKey(k);
  }, []);
  const onInput = useCallback((data: string | Uint8Array) => broadcast(id, data), [id]);
  useEffect(() => () => forget(id), [id]);

  // Kept from another visit, and its program is gone with what it ran in.
  if (known && panel.session && !info && !panel.create) {
    return (
      <div className="dock-empty" data-region>
        <SquareTerminal size={20} aria-hidden />
        <h2>This terminal is no longer there</h2>
        <p>Its session ended while this page was not looking: with its container, or with Loop.</p>
        <div className="dock-empty-do">
          <Button look="primary" onClick={() => restart(id)}>Open a new one here</Button>
          <Button onClick={() => closePane(id)}>Close</Button>
        </div>
      </div>
    );
  }
  return (
    <ErrorBoundary what="Terminal">
      <Suspense fallback={<div className="dock-wait" role="status"><span className="sr-only">Opening the terminal</span></div>}>
        {/* Those behind other tabs stay attached: a bell there has to be heard. */}
        <TerminalView
          {...(panel.session ? { sessionId: panel.session } : {})} {...(panel.create ? { create: panel.create } : {})}
          info={info} visible focused={focused} settings={settings}
          onInfo={onInfo} onHandle={onHandle} onAction={onAction} onKey={onKey} onInput={onInput}
        />
      </Suspense>
    </ErrorBoundary>
  );
}
