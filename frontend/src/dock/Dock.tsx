import type { CSSProperties, ReactNode } from "react";
import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import type { Layout, Panel } from "../model/dock/layout";
import { groups, shownPanels, startLayout } from "../model/dock/layout";
import type { Rect } from "../model/dock/place";
import { place, sideRect } from "../model/dock/place";
import { dockUi, layoutsStore } from "../model/dock/store";
import { ErrorBoundary } from "../ui/ErrorBoundary";
import { SafeText } from "../ui/SafeText";
import { ArrangeBar, BroadcastBar } from "./Bars";
import "./dock.css";
import { broadcastTargets, leaveDock } from "./dock";
import { STRIP_PX } from "./drag";
import { layoutOf, saveLayouts } from "./layouts";
import { Line } from "./Line";
import { kindOf, useFace } from "./panels";
import { Strip } from "./Strip";
import { useDockKeys } from "./useDockKeys";
import { useKeyboardHolder } from "./useKeyboardHolder";

const WHOLE: Rect = { x: 0, y: 0, w: 1, h: 1 };
const START = startLayout();
const pc = (n: number) => `${n * 100}%`;
const stripStyle = (r: Rect): CSSProperties => ({ left: pc(r.x), top: pc(r.y), width: pc(r.w) });
const bodyStyle = (r: Rect): CSSProperties => ({ left: pc(r.x), top: `calc(${pc(r.y)} + ${STRIP_PX}px)`, width: pc(r.w), height: `calc(${pc(r.h)} - ${STRIP_PX}px)` });

/** The centre of the page: panels behind tabs, side by side. */
export function Dock({ channelId }: { channelId: ChannelID }) {
  const layout = useStore(layoutsStore, (all) => all[channelId] ?? START);
  const broadcasting = useStore(dockUi, (u) => u.broadcast);
  const arranging = useStore(dockUi, (u) => u.arranging);
  const said = useStore(dockUi, (u) => u.said);
  useDockKeys();
  useKeyboardHolder();
  useEffect(() => {
    layoutOf(channelId);
    addEventListener("pagehide", saveLayouts);
    return () => {
      removeEventListener("pagehide", saveLayouts);
      saveLayouts();
      leaveDock();
    };
  }, [channelId]);
  return (
    <div className={`dock ${arranging ? "arranging" : ""}`}>
      {broadcasting && <BroadcastBar layout={layout} />}
      <div className="dock-area">
        <Places channelId={channelId} layout={layout} broadcasting={broadcasting} />
        <Dragged layout={layout} />
      </div>
      {arranging && <ArrangeBar />}
      <p className="sr-only" role="status">{said}</p>
    </div>
  );
}

/** All strips and panels as one flat list in reading order, so that a moved panel stays the same element. */
function Places({ channelId, layout, broadcasting }: { channelId: ChannelID; layout: Layout; broadcasting: boolean }) {
  const placed = useMemo(() => place(layout), [layout]);
  const shown = new Set(shownPanels(layout));
  const targets = new Set(broadcasting ? broadcastTargets(layout) : []);
  const all = groups(layout.root);
  const out: ReactNode[] = [];
  all.forEach((g, i) => {
    const own = placed.groups.get(g.id) ?? WHOLE;
    const rect = layout.zoom === g.id ? WHOLE : own;
    const off = layout.zoom !== "" && layout.zoom !== g.id;
    const edge = `${rect.x > 0 ? "inner-x" : ""} ${rect.y > 0 ? "inner-y" : ""}`;
    out.push(<Strip key={`strip ${g.id}`} channelId={channelId} layout={layout} group={g} number={i + 1} count={all.length} style={stripStyle(rect)} off={off} edge={edge} />);
    for (const id of g.panels) {
      const p = layout.panels[id];
      if (!p) continue;
      const front = layout.focus === g.id && all.length > 1;
      out.push(
        <div
          key={id} id={`panel-${id}`} role="tabpanel" aria-labelledby={`tab-${id}`} style={bodyStyle(rect)}
          className={`dock-panel ${p.kind} ${shown.has(id) ? "" : "off"} ${front ? "front" : ""} ${edge} ${targets.has(id) ? "target" : ""}`}
        >
          <ErrorBoundary what="Panel">{kindOf(p).render({ channelId, panel: p })}</ErrorBoundary>
        </div>,
      );
    }
    if (layout.zoom) return;
    for (const l of placed.lines.filter((x) => x.first === g.id)) {
      out.push(<Line key={`line ${l.split} ${l.at}`} channelId={channelId} line={l} name={l.dir === "row" ? "Width of the panes beside it" : "Height of the panes above and below"} />);
    }
  });
  return out;
}

/** The dragged tab under the pointer, and the place where a drop would put it. */
function Dragged({ layout }: { layout: Layout }) {
  const drag = useStore(dockUi, (u) => u.drag);
  const panel = drag && layout.panels[drag.panel];
  if (!drag || !panel) return null;
  const r = drag.over && (layout.zoom ? WHOLE : place(layout).groups.get(drag.over.group));
  return (
    <>
      {drag.over && r && ("side" in drag.over ? (
        <div className="dock-drop" style={areaStyle(r, drag.over.side)} />
      ) : (
        <div className="dock-caret" style={{ left: drag.over.x, top: pc(r.y) }} />
      ))}
      <Ghost panel={panel} x={drag.x} y={drag.y} />
    </>
  );
}

function areaStyle(r: Rect, side: "" | "left" | "right" | "up" | "down"): CSSProperties {
  const s = sideRect(r, side);
  // The area lies below the strip. Its lower half begins at the middle of the room below the strip.
  return side === "down"
    ? { left: pc(s.x), width: pc(s.w), top: `calc(${pc(s.y)} + ${STRIP_PX / 2}px)`, height: `calc(${pc(s.h)} - ${STRIP_PX / 2}px)` }
    : { left: pc(s.x), width: pc(s.w), top: `calc(${pc(s.y)} + ${STRIP_PX}px)`, height: `calc(${pc(s.h)} - ${side === "up" ? STRIP_PX / 2 : STRIP_PX}px)` };
}

function Ghost({ panel, x, y }: { panel: Panel; x: number; y: number }) {
  const kind = kindOf(panel);
  const face = useFace(panel);
  return <div className="dock-ghost" style={{ left: x + 10, top: y + 8 }} aria-hidden>{kind.icon(panel, 14)} <SafeText text={face.title} /></div>;
}
