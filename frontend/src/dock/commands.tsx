import { Columns2, Equal, Maximize2, Move, Rows2, X } from "lucide-react";
import { focusPanel, TIMELINE } from "../model/dock/layout";
import { keyText } from "../ui/keys";
import { evenOut, goInto, moveTab, requestClose, runDockKey, split, toggleZoom } from "./dock";
import { layoutOf } from "./layouts";
import type { PanelCommand } from "./panels";
import { allKinds, kindOf } from "./panels";

/** The palette's present commands for the panels of a channel. */
export function dockCommands(channel: string): PanelCommand[] {
  if (!channel) return [];
  const l = layoutOf(channel);
  const here = focusPanel(l);
  const panel = l.panels[here];
  const kind = panel && kindOf(panel);
  const out = allKinds().flatMap((k) => k.opens?.(channel, "") ?? []);
  out.push(
    { id: "right", name: "Split right", icon: <Columns2 size={14} aria-hidden />, hint: keyText("panes.split-right"), run: () => split("right", here) },
    { id: "down", name: "Split down", icon: <Rows2 size={14} aria-hidden />, hint: keyText("panes.split-down"), run: () => split("down", here) },
  );
  if (l.root.kind === "split") {
    out.push(
      { id: "zoom", name: l.zoom ? "Show all panes" : "Show the pane alone", icon: <Maximize2 size={14} aria-hidden />, hint: keyText("panes.zoom"), run: toggleZoom },
      { id: "even", name: "Make all panes the same size", icon: <Equal size={14} aria-hidden />, run: evenOut },
      { id: "arrange", name: "Arrange panes by keys", icon: <Move size={14} aria-hidden />, hint: keyText("panes.arrange"), run: () => void runDockKey({ do: "arrange" }) },
      ...(["left", "right", "up", "down"] as const).map((side) => ({ id: `move-${side}`, name: `Move the tab ${side}`, icon: <Move size={14} aria-hidden />, run: () => { moveTab(side); goInto(here); } })),
    );
  }
  if (!panel || !kind || here === TIMELINE) return out;
  out.push(...(kind.acts?.(panel) ?? []));
  out.push({ id: "close", name: `Close the ${kind.noun}`, icon: <X size={14} aria-hidden />, hint: keyText("panes.close"), run: () => requestClose(here) });
  return out;
}
