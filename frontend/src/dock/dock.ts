// What a person can do with the panels of the centre; keys, menus, buttons and the
// palette share these.
import type { TerminalID, TerminalInfo } from "../api/types";
import * as change from "../model/dock/change";
import type { DockKey } from "../model/dock/keys";
import type { Layout, Panel, PanelID, Side } from "../model/dock/layout";
import { focusGroup, focusPanel, groupById, groupOf, groups, panelOfSession, shownPanels, TIMELINE } from "../model/dock/layout";
import { neighbour, place } from "../model/dock/place";
import { dockUi, idleDock, sessionsStore } from "../model/dock/store";
import { toast, toastFailure, viewStore } from "../model/stores";
import type { TerminalKind } from "../model/terminals/sessions";
import { againOf, createOf, isIdle } from "../model/terminals/sessions";
import { front } from "../ui/layer";
import { session } from "../session/session";
import { layoutOf, update } from "./layouts";
import { handles, panesStore } from "../features/terminals/panes";

export { layoutOf, saveLayouts, update } from "./layouts";

const STEP = 0.04; // of the centre, for one arrow

const here = () => viewStore.getState().selected;

/** Gives the keyboard to a panel. */
export function goInto(panel: PanelID) {
  update(here(), (l) => change.activate(l, panel));
  front.after(() => take(panel));
}

function take(panel: PanelID) {
  const p = layoutOf(here()).panels[panel];
  if (p?.kind === "terminal") {
    if (dockUi.getState().keyboard === panel) handles.get(panel)?.focus();
    else dockUi.setState({ keyboard: panel });
    return;
  }
  dockUi.setState({ keyboard: "" });
  const box = () => document.querySelector<HTMLElement>("[data-prompt]");
  box()?.focus();
  requestAnimationFrame(() => box()?.focus()); // it may have been behind another tab
}

export function goToFocus() {
  goInto(focusPanel(layoutOf(here())));
}

/** The timeline comes to the front, for what is to be read or answered there. */
export function revealTimeline() {
  if (here()) update(here(), (l) => change.activate(l, TIMELINE));
}

// --- opening ---

function panelFor(kind: TerminalKind): change.NewPanel {
  return { kind: "terminal", session: "", target: kind === "host" ? "host" : "agent", ...(kind === "shell" ? { plain: true } : {}), create: createOf(kind, here()) };
}

function openPanel(made: change.NewPanel, to: change.Place) {
  if (!here()) return;
  let id = "";
  update(here(), (l) => {
    const r = change.open(l, made, to);
    id = r.panel;
    return r.layout;
  });
  if (id) goInto(id);
}

/** Beside the timeline if that is all there is, else behind a tab of the terminals last used. */
export function openTerminal(kind: TerminalKind, group = "") {
  const l = layoutOf(here());
  const target = groupById(l, group) ?? focusGroup(l);
  if (!group && target.active === TIMELINE) {
    const other = groups(l.root).find((g) => g.panels.some((p) => l.panels[p]?.kind === "terminal"));
    return openPanel(panelFor(kind), other ? { group: other.id } : { group: target.id, side: "right" });
  }
  openPanel(panelFor(kind), { group: target.id });
}

/** A shell beside the pane, where the pane's own program is. */
export function split(side: Side, from: PanelID = focusPanel(layoutOf(here()))) {
  const l = layoutOf(here());
  const p = l.panels[from];
  const g = groupOf(l, from);
  if (!g) return;
  const made = panelFor(p?.kind === "terminal" && p.target === "host" ? "host" : "shell");
  // Where the other one is, as far as its shell says.
  const dir = p?.kind === "terminal" ? panesStore.getState()[from]?.dir || sessionsStore.getState().byId[p.session]?.dir : "";
  openPanel(dir && made.kind === "terminal" ? { ...made, create: { ...made.create, dir } } : made, { group: g.id, side });
}

/** A session that goes on without a pane, or is shown already. */
export function showSession(t: TerminalInfo, group = "") {
  const l = layoutOf(here());
  const had = panelOfSession(l, t.session_id);
  if (had) return goInto(had);
  const terminals = groups(l.root).find((g) => g.panels.some((p) => l.panels[p]?.kind === "terminal"));
  const made: change.NewPanel = { kind: "terminal", session: t.session_id, target: t.target, ...(t.plain || t.cmd?.length ? { plain: true } : {}) };
  const target = group || (focusPanel(l) === TIMELINE ? terminals?.id : focusGroup(l).id);
  openPanel(made, target ? { group: target } : { group: focusGroup(l).id, side: "right" });
}

export function restart(panel: PanelID) {
  const p = layoutOf(here()).panels[panel];
  if (p?.kind !== "terminal") return;
  const old = sessionsStore.getState().byId[p.session];
  const create = old ? againOf(old, old.plain ?? p.plain === true) : (p.create ?? createOf(p.target === "host" ? "host" : p.plain ? "shell" : "agent", here()));
  update(here(), (l) => change.replace(l, panel, { kind: "terminal", session: "", target: p.target, create, ...(p.plain ? { plain: true } : {}) }));
  goToFocus();
  if (old) session().api.terminals.close(old.session_id).catch(() => undefined); // it was over already
}

// --- closing ---

export function requestClose(panel: PanelID = focusPanel(layoutOf(here()))) {
  const p = layoutOf(here()).panels[panel];
  if (p?.kind !== "terminal") return;
  const known = sessionsStore.getState().byId[p.session];
  const pane = panesStore.getState()[panel];
  const over = !p.session || known?.state === "ended" || pane?.state === "ended" || pane?.state === "failed" || (sessionsStore.getState().known && !known);
  if (over || isIdle(known, handles.get(panel)?.busy() ?? null)) endAndClose(panel);
  else dockUi.setState({ closing: panel });
}

export function endAndClose(panel: PanelID) {
  const p = layoutOf(here()).panels[panel];
  closePane(panel);
  if (p?.kind !== "terminal" || !p.session) return;
  const known = sessionsStore.getState().byId[p.session];
  if (known || !sessionsStore.getState().known) session().api.terminals.close(p.session).catch(toastFailure);
}

/** The pane goes, the session stays. */
export function closePane(panel: PanelID) {
  const had = groupOf(layoutOf(here()), panel)?.id === layoutOf(here()).focus;
  update(here(), (l) => change.close(l, panel));
  if (had) goToFocus();
}

// --- the rest ---

export async function rename(id: TerminalID, title: string) {
  try {
    const t = await session().api.terminals.rename(id, title.trim());
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

export function toggleZoom() {
  update(here(), change.toggleZoom);
  say(layoutOf(here()).zoom ? "The pane is shown alone." : "All panes are shown.");
  goToFocus();
}

/** Terminals that would get what is typed. */
export function broadcastTargets(l: Layout = layoutOf(here())): PanelID[] {
  return shownPanels(l).filter((id) => l.panels[id]?.kind === "terminal");
}

export function toggleBroadcast() {
  const on = !dockUi.getState().broadcast;
  if (on && broadcastTargets().length < 2) return toast("There is only one terminal to type into. Split it first.");
  dockUi.setState({ broadcast: on });
  say(on ? "Typing goes to all visible terminals." : "Typing goes to one terminal.");
}

export function broadcast(from: PanelID, data: string | Uint8Array) {
  if (!dockUi.getState().broadcast) return;
  for (const id of broadcastTargets()) if (id !== from) handles.get(id)?.input(data);
}

export function evenOut() {
  update(here(), change.even);
  say("All panes have the same size.");
}

export function stretch(side: Side) {
  update(here(), (l) => change.stretch(l, l.focus, side, STEP));
  const l = layoutOf(here());
  const r = place(l).groups.get(l.focus);
  if (r) say(`${Math.round(r.w * 100)} % wide, ${Math.round(r.h * 100)} % high`);
}

/** Into the group on that side; where there is none, into a group of its own there. */
export function moveTab(side: Side, panel: PanelID = focusPanel(layoutOf(here()))) {
  update(here(), (l) => {
    const g = groupOf(l, panel);
    if (!g) return l;
    const to = neighbour(l, g.id, side);
    return change.move(l, panel, to ? { group: to } : { group: g.id, side });
  });
}

export function stepTab(by: number) {
  const g = focusGroup(layoutOf(here()));
  const i = g.panels.indexOf(g.active);
  const next = g.panels[(i + by + g.panels.length) % g.panels.length];
  if (next) goInto(next);
}

/** Tabs are numbered through all groups, as they are read. */
export function panelByNumber(l: Layout, n: number): Panel | undefined {
  const all = groups(l.root).flatMap((g) => g.panels);
  return l.panels[(n === 9 ? all.at(-1) : all[n - 1]) ?? ""];
}

export function say(said: string) {
  dockUi.setState({ said });
}

export function runDockKey(k: DockKey): boolean {
  const l = layoutOf(here());
  switch (k.do) {
    case "focus": {
      if (l.zoom) return true;
      const to = neighbour(l, l.focus, k.side);
      const g = groupById(l, to);
      if (g) goInto(g.active);
      return true;
    }
    case "arrange":
      if (l.root.kind === "split" || focusGroup(l).panels.length > 1) dockUi.setState({ arranging: !dockUi.getState().arranging, said: "" });
      else toast("There is only one panel. Split it first.");
      return true;
    case "zoom":
      toggleZoom();
      return true;
    case "broadcast":
      toggleBroadcast();
      return true;
    case "tab":
      if (focusGroup(l).panels.length < 2) return false;
      stepTab(k.step);
      return true;
    case "number": {
      const p = panelByNumber(l, k.n);
      if (p) goInto(p.id);
      return p !== undefined;
    }
  }
}

/** Another channel: nothing of the last one's goes on. */
export function leaveDock() {
  dockUi.setState(idleDock);
}
