import { Columns2, Disc, Equal, Film, Maximize2, Monitor, Move, Pencil, RadioTower, Rows2, Sparkles, SquareTerminal, X } from "lucide-react";
import type { ReactNode } from "react";
import { keyOf } from "../model/dock/keys";
import { focusPanel } from "../model/dock/layout";
import { dockUi, sessionsStore } from "../model/dock/store";
import { viewStore } from "../model/stores";
import { KIND_NAMES, sessionsOf } from "../model/terminals/sessions";
import { sessionTitle } from "../model/terminals/titles";
import { visible } from "../model/text";
import { isMac } from "../ui/keys";
import { evenOut, goInto, layoutOf, moveTab, openTerminal, requestClose, runDockKey, showSession, split, toggleBroadcast, toggleRecord, toggleZoom } from "./dock";
import { hintOf } from "./hints";
import { panesStore } from "../features/terminals/panes";
import { SessionIcon } from "./Tab";

export type DockCommand = { id: string; name: string; icon: ReactNode; hint?: string; run(): void };

/** What the palette offers for the terminals and panes of a channel, as they are now. */
export function dockCommands(channel: string): DockCommand[] {
  if (!channel) return [];
  const l = layoutOf(channel);
  const here = focusPanel(l);
  const panel = l.panels[here];
  const several = l.root.kind === "split";
  const out: DockCommand[] = [
    { id: "new", name: `Open: ${KIND_NAMES.agent}`, icon: <Sparkles size={14} aria-hidden />, hint: hintOf("new"), run: () => openTerminal("agent") },
    { id: "shell", name: `Open: ${KIND_NAMES.shell}`, icon: <SquareTerminal size={14} aria-hidden />, run: () => openTerminal("shell") },
    { id: "host", name: `Open: ${KIND_NAMES.host}`, icon: <Monitor size={14} className="host" aria-hidden />, run: () => openTerminal("host") },
    { id: "right", name: "Split right", icon: <Columns2 size={14} aria-hidden />, hint: hintOf("split-right"), run: () => split("right", here) },
    { id: "down", name: "Split down", icon: <Rows2 size={14} aria-hidden />, hint: hintOf("split-down"), run: () => split("down", here) },
  ];
  for (const t of sessionsOf(sessionsStore.getState(), channel)) {
    out.push({ id: t.session_id, name: `Go to terminal: ${visible(sessionTitle(t))}`, icon: <SessionIcon t={t} />, run: () => showSession(t) });
  }
  if (several) {
    out.push(
      { id: "zoom", name: l.zoom ? "Show all panes" : "Show the pane alone", icon: <Maximize2 size={14} aria-hidden />, hint: keyOf("zoom", isMac), run: toggleZoom },
      { id: "even", name: "Make all panes the same size", icon: <Equal size={14} aria-hidden />, run: evenOut },
      { id: "arrange", name: "Arrange panes by keys", icon: <Move size={14} aria-hidden />, hint: keyOf("arrange", isMac), run: () => void runDockKey({ do: "arrange" }) },
      ...(["left", "right", "up", "down"] as const).map((side) => ({ id: `move-${side}`, name: `Move the tab ${side}`, icon: <Move size={14} aria-hidden />, run: () => { moveTab(side); goInto(here); } })),
    );
  }
  if (panel?.kind === "terminal") {
    const recording = panesStore.getState()[here]?.recording;
    out.push(
      { id: "broadcast", name: dockUi.getState().broadcast ? "Type into one terminal again" : "Type into all visible terminals", icon: <RadioTower size={14} aria-hidden />, hint: keyOf("broadcast", isMac), run: toggleBroadcast },
      { id: "rename", name: "Rename the terminal", icon: <Pencil size={14} aria-hidden />, hint: "F2", run: () => dockUi.setState({ renaming: here }) },
      { id: "record", name: recording ? "Stop recording the terminal" : "Record the terminal", icon: <Disc size={14} aria-hidden />, run: () => toggleRecord(here) },
      { id: "close", name: "Close the terminal", icon: <X size={14} aria-hidden />, hint: hintOf("close"), run: () => requestClose(here) },
    );
  }
  out.push({ id: "recordings", name: "Recordings of terminals", icon: <Film size={14} aria-hidden />, run: () => viewStore.setState({ dialog: "recordings" }) });
  return out;
}
