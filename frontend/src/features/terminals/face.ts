import type { Face } from "../../dock/panels";
import { panelsChanged } from "../../dock/panels";
import type { Panel } from "../../model/dock/layout";
import { sessionsStore } from "../../model/dock/store";
import { frameStore } from "../../model/stores";
import type { TerminalData } from "../../model/terminals/panel";
import { sessionDetail, sessionTitle } from "../../model/terminals/titles";
import { panesStore } from "./panes";

sessionsStore.subscribe(panelsChanged);
panesStore.subscribe(panelsChanged);
frameStore.subscribe((now, before) => now.config !== before.config && panelsChanged());

/** The face of a terminal's tab, from its pane and from the list of sessions. */
export function terminalFace({ id, data }: Panel<TerminalData>): Face {
  const pane = panesStore.getState()[id];
  const { byId, known } = sessionsStore.getState();
  const info = byId[data.session];
  const marks = frameStore.getState().config?.terminal?.bell !== "off";
  const gone = known && data.session !== "" && !info && !data.create;
  const over = gone || pane?.state === "ended" || info?.state === "ended";
  const away = pane?.state === "away" || info?.state === "away";
  return {
    title: info ? sessionTitle(info) : pane?.title || data.create?.title || "Terminal", detail: info ? sessionDetail(info) : "",
    state: over ? "ended" : away ? "away" : pane?.state === "live" ? "running" : "",
    unread: pane?.unread ?? false, bell: marks && (pane?.bell ?? false), recording: Boolean(pane?.recording || info?.recording),
  };
}
