import { RadioTower } from "lucide-react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { sideOf } from "../model/dock/keys";
import type { Layout } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";
import { Button, Kbd, KeyOf } from "../ui/Button";
import { isMac, pressed } from "../ui/keys";
import { broadcastTargets, evenOut, goToFocus, moveTab, stretch, toggleBroadcast } from "./dock";
import { kindOf } from "./panels";

/** Shows that typing goes to several programs, so that nobody does so unawares. */
export function BroadcastBar({ layout }: { layout: Layout }) {
  const targets = broadcastTargets(layout);
  const hosts = targets.filter((id) => {
    const p = layout.panels[id];
    return p && kindOf(p).onHost?.(p);
  }).length;
  return (
    <div className="dock-broadcast" role="alert">
      <RadioTower size={15} aria-hidden />
      <p>
        <strong>{targets.length > 1 ? `Typing goes to ${targets.length === 2 ? "both" : `all ${targets.length}`} visible terminals.` : "Only one terminal is visible."}</strong>
        {hosts > 0 && ` ${hosts === 1 ? "One of them runs" : `${hosts} of them run`} on this computer.`}
      </p>
      <Button look="small" onClick={toggleBroadcast}>Type into one again <KeyOf of="panes.broadcast" /></Button>
    </div>
  );
}

/** The bar for arranging panes. While it has the focus, arrow keys change the layout. */
export function ArrangeBar() {
  const said = useStore(dockUi, (u) => u.said);
  const el = useRef<HTMLDivElement>(null);
  const leave = (back: boolean) => {
    dockUi.setState({ arranging: false });
    if (back) goToFocus();
  };
  useEffect(() => el.current?.focus(), []);
  return (
    <div
      className="dock-arrange" ref={el} tabIndex={-1} role="group" aria-label="Arrange panes. Arrows resize, Shift and arrows move the tab, equals makes all the same size, Enter ends."
      onBlur={() => leave(false)}
      onKeyDown={(e) => {
        const side = sideOf(e.key);
        if (side && !e.ctrlKey && !e.metaKey && !e.altKey) {
          if (e.shiftKey) moveTab(side);
          else stretch(side);
          // A moved panel may have taken the focus.
          requestAnimationFrame(() => el.current?.focus());
        } else if (e.key === "=") evenOut();
        else if (e.key === "Enter" || e.key === "Escape" || pressed("panes", e) === "panes.arrange") leave(true);
        else return;
        e.preventDefault();
        e.stopPropagation();
      }}
    >
      <strong>Arrange</strong>
      <span><Kbd>← → ↑ ↓</Kbd> resize</span>
      <span><Kbd>{isMac ? "⇧" : "Shift"} arrows</Kbd> move the tab</span>
      <span><Kbd>=</Kbd> all the same size</span>
      <span><Kbd>Enter</Kbd> done</span>
      <span className="dock-said tnum">{said}</span>
    </div>
  );
}
