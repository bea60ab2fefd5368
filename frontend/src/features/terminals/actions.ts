// Actions on terminals, whichever panel shows them.
import type { TerminalID, TerminalInfo } from "../../api/types";
import { closePane, openPanel, replacePanel } from "../../dock/dock";
import { closeEverywhere, layoutOf } from "../../dock/layouts";
import type { NewPanel, Panel, PanelID } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import { batchListeners, toast, toastFailure, viewStore } from "../../model/stores";
import type { TerminalData } from "../../model/terminals/panel";
import { TERMINAL } from "../../model/terminals/panel";
import type { TerminalKind } from "../../model/terminals/sessions";
import { againOf, createOf, isIdle, removedSessions } from "../../model/terminals/sessions";
import { session } from "../../session/session";
import { handles, panesStore } from "./panes";

type TerminalPanel = Panel<TerminalData>;

const here = () => viewStore.getState().selected;

export const isTerminal = (p: Panel | undefined): p is TerminalPanel => p?.kind === TERMINAL;

/** The panel's present data: a session may have been made for it meanwhile. */
function terminalOf(panel: PanelID): TerminalData | undefined {
  const p = layoutOf(here()).panels[panel];
  return isTerminal(p) ? p.data : undefined;
}

export function newTerminal(kind: TerminalKind): NewPanel<TerminalData> {
  return { kind: TERMINAL, data: { session: "", target: kind === "host" ? "host" : "agent", ...(kind === "shell" ? { plain: true } : {}), create: createOf(kind, here()) } };
}

export function openTerminal(kind: TerminalKind, group = "") {
  openPanel(newTerminal(kind), group);
}

/** A new shell in the folder of the panel's own shell, if that reports its folder. */
export function shellBeside(p: TerminalPanel | null): NewPanel<TerminalData> {
  const made = newTerminal(p?.data.target === "host" ? "host" : "shell");
  const dir = p && (panesStore.getState()[p.id]?.dir || sessionsStore.getState().byId[p.data.session]?.dir);
  return dir ? { ...made, data: { ...made.data, create: { ...made.data.create, dir } } } : made;
}

/** Shows a session: in a new panel, or in the one that already shows it. */
export function showSession(t: TerminalInfo, group = "") {
  const data: TerminalData = { session: t.session_id, target: t.target, ...(t.plain || t.cmd?.length ? { plain: true } : {}) };
  openPanel({ kind: TERMINAL, data }, group);
}

export function restart(panel: PanelID) {
  const d = terminalOf(panel);
  if (!d) return;
  const old = sessionsStore.getState().byId[d.session];
  const create = old ? againOf(old, old.plain ?? d.plain === true) : (d.create ?? createOf(d.target === "host" ? "host" : d.plain ? "shell" : "agent", here()));
  const data: TerminalData = { session: "", target: d.target, create, ...(d.plain ? { plain: true } : {}) };
  replacePanel(panel, { kind: TERMINAL, data });
  if (old) session().api.terminals.close(old.session_id).catch(() => undefined); // the session has ended anyway
}

/** Closes a terminal: at once if nothing can be lost, else after a question. */
export function closeTerminal({ id, data }: TerminalPanel) {
  const { byId, known } = sessionsStore.getState();
  const info = byId[data.session];
  const pane = panesStore.getState()[id];
  const over = !data.session || info?.state === "ended" || pane?.state === "ended" || pane?.state === "failed" || (known && !info);
  if (over || isIdle(info, handles.get(id)?.busy() ?? null)) endAndClose(id);
  else dockUi.setState({ closing: id });
}

export function endAndClose(panel: PanelID) {
  const id = terminalOf(panel)?.session;
  closePane(panel);
  const { byId, known } = sessionsStore.getState();
  if (id && (byId[id] || !known)) session().api.terminals.close(id).catch(toastFailure);
}

/** Gives a terminal the keyboard. */
export function focusTerminal({ id }: TerminalPanel) {
  if (dockUi.getState().keyboard === id) handles.get(id)?.focus();
  else dockUi.setState({ keyboard: id });
}

export async function rename(id: TerminalID, title: string) {
  try {
    const t = await session().api.terminals.rename(id, title);
    sessionsStore.setState((s) => ({ byId: { ...s.byId, [t.session_id]: t } }));
  } catch (err) {
    toastFailure(err);
  }
}

export function toggleRecord(panel: PanelID) {
  const info = panesStore.getState()[panel];
  if (!info) return;
  handles.get(panel)?.record(!info.recording);
  toast(info.recording ? "The recording is kept. “Recordings” plays it." : "Everything this terminal shows is recorded.");
}

batchListeners.add((batch) => {
  const gone = removedSessions(batch);
  if (gone.size > 0) closeEverywhere((p) => isTerminal(p) && gone.has(p.data.session));
});
