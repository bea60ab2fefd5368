// Actions on the panels of the centre. Keys, menus, buttons and the palette share them.
import * as change from "../model/dock/change";
import type { DockKey } from "../model/dock/keys";
import type { GroupID, Layout, NewPanel, Panel, PanelID, Side } from "../model/dock/layout";
import { focusGroup, focusPanel, groupById, groupOf, groupOfKind, groups, panelWhere, shownPanels, TIMELINE } from "../model/dock/layout";
import { neighbour, place } from "../model/dock/place";
import { dockUi, idleDock } from "../model/dock/store";
import { toast, viewStore } from "../model/stores";
import { enterRegion, front } from "../ui/layer";
import { layoutOf, update } from "./layouts";
import { allKinds, kindNamed, kindOf } from "./panels";

const STEP = 0.04; // share of the centre, for one press of an arrow key

const here = () => viewStore.getState().selected;

const panelHere = (panel: PanelID): Panel | undefined => layoutOf(here()).panels[panel];

/** Gives the keyboard to a panel. */
export function goInto(panel: PanelID) {
  update(here(), (l) => change.activate(l, panel));
  front.after(() => take(panel));
}

function take(panel: PanelID) {
  const p = panelHere(panel);
  const focus = p && kindOf(p).focus;
  if (focus) return focus(p);
  dockUi.setState({ keyboard: "" });
  const enter = () => {
    const el = document.getElementById(`panel-${panel}`);
    if (el) enterRegion(el);
  };
  enter();
  requestAnimationFrame(enter); // a panel that was behind another tab is visible only now
}

export function goToFocus() {
  goInto(focusPanel(layoutOf(here())));
}

/** Brings the timeline to the front, so that the person can read or answer in it. */
export function revealTimeline() {
  if (here()) update(here(), (l) => change.activate(l, TIMELINE));
}

// --- opening ---

function openAt(made: NewPanel, to: change.Place) {
  if (!here()) return;
  let id = "";
  update(here(), (l) => {
    const r = change.open(l, made, to);
    id = r.panel;
    return r.layout;
  });
  if (id) goInto(id);
}

/**
 * Opens a panel as a tab of the group, or of the one with the keyboard. If that shows the
 * timeline, the panel opens beside it, or on another side. A panel that shows the same already gets the keyboard.
 */
export function openPanel(made: NewPanel, group: GroupID = "", side: Side = "right") {
  const l = layoutOf(here());
  const key = kindNamed(made.kind)?.key;
  const name = key?.(made.data);
  const had = name && panelWhere(l, (p) => p.kind === made.kind && key?.(p.data) === name);
  if (had) return goInto(had);
  const target = groupById(l, group) ?? focusGroup(l);
  if (group || target.active !== TIMELINE) return openAt(made, { group: target.id });
  const other = groupOfKind(l, made.kind);
  openAt(made, other ? { group: other.id } : { group: target.id, side });
}

/** Opens another panel beside one: of its own kind, or of the first kind that offers one. */
export function split(side: Side, from: PanelID = focusPanel(layoutOf(here()))) {
  const p = panelHere(from);
  const g = groupOf(layoutOf(here()), from);
  if (!p || !g) return;
  const made = kindOf(p).beside?.(p) ?? allKinds().find((k) => k.beside)?.beside?.(null);
  if (made) openAt(made, { group: g.id, side });
}

/** Begins a panel anew in its place. */
export function replacePanel(panel: PanelID, made: NewPanel) {
  update(here(), (l) => change.replace(l, panel, made));
  goToFocus();
}

// --- closing ---

export function requestClose(panel: PanelID = focusPanel(layoutOf(here()))) {
  const p = panelHere(panel);
  if (!p || panel === TIMELINE) return;
  const { close } = kindOf(p);
  if (close) close(p);
  else closePane(panel);
}

/** Closes the panel. Its session goes on. */
export function closePane(panel: PanelID) {
  const had = groupOf(layoutOf(here()), panel)?.id === layoutOf(here()).focus;
  update(here(), (l) => change.close(l, panel));
  if (had) goToFocus();
}

// --- the rest ---

/** Opens the field for a new name over the panel's tab, if the panel can be renamed. */
export function beginRename(panel: PanelID) {
  const p = panelHere(panel);
  if (p && kindOf(p).rename?.(p)) dockUi.setState({ renaming: panel });
}

/** Closes that field. The panel gets the keyboard if a key closed it, else the place that the person went to keeps it. */
export function endRename(panel: PanelID, byKey: boolean) {
  dockUi.setState({ renaming: "" });
  if (byKey) goInto(panel);
}

export function toggleZoom() {
  update(here(), change.toggleZoom);
  say(layoutOf(here()).zoom ? "The pane is shown alone." : "All panes are shown.");
  goToFocus();
}

/** The panels that would get typed text. */
export function broadcastTargets(l: Layout = layoutOf(here())): PanelID[] {
  return shownPanels(l).filter((id) => kindNamed(l.panels[id]?.kind ?? "")?.type);
}

export function toggleBroadcast() {
  const on = !dockUi.getState().broadcast;
  if (on && broadcastTargets().length < 2) return toast("There is only one terminal to type into. Split it first.");
  dockUi.setState({ broadcast: on });
  say(on ? "Typing goes to all visible terminals." : "Typing goes to one terminal.");
}

export function broadcast(from: PanelID, data: string | Uint8Array) {
  if (!dockUi.getState().broadcast) return;
  for (const id of broadcastTargets()) {
    const p = panelHere(id);
    if (p && id !== from) kindOf(p).type?.(p, data);
  }
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

/** Moves a tab into the group on a side. If there is none, the tab gets a new group there. */
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

/** The panel with a number. Tabs are numbered through all groups, in reading order. */
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

/** Ends bars, drags and menus of the dock before another channel is shown. */
export function leaveDock() {
  dockUi.setState(idleDock);
}
