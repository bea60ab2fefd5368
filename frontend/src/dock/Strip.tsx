import { Minimize2 } from "lucide-react";
import type { CSSProperties, KeyboardEvent } from "react";
import { useLayoutEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import * as change from "../model/dock/change";
import type { Group, Layout, Panel } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";
import { Button } from "../ui/Button";
import { composing, useKeyText } from "../ui/keys";
import { beginRename, endRename, goInto, requestClose, toggleZoom } from "./dock";
import { update } from "./layouts";
import { NewMenu, PanelMenu } from "./Menus";
import { TabsMenu } from "./TabsMenu";
import { kindOf } from "./panels";
import { Tab } from "./Tab";
import { useFit } from "./useFit";

type Props = { channelId: ChannelID; layout: Layout; group: Group; number: number; count: number; style: CSSProperties; off: boolean; edge: string };

/** The tabs of one group, with the buttons of the group. */
export function Strip({ channelId, layout, group, number, count, style, off, edge }: Props) {
  const renaming = useStore(dockUi, (u) => (group.panels.includes(u.renaming) ? u.renaming : ""));
  const zoomKey = useKeyText()("panes.zoom");
  const list = useRef<HTMLDivElement>(null);
  const front = layout.focus === group.id;
  const active = layout.panels[group.active];
  const renamed = layout.panels[renaming];

  const { form, plus, words, path, hidden, more } = useFit(list, group);

  function onKeyDown(e: KeyboardEvent) {
    const i = group.panels.indexOf(group.active);
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: group.panels.length - 1 }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (to !== undefined) {
      const next = group.panels[(to + group.panels.length) % group.panels.length] ?? group.active;
      update(channelId, (l) => change.activate(l, next));
      list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    } else if (e.key === "Enter" || e.key === " ") goInto(group.active);
    else if (e.key === "Delete") requestClose(group.active);
    else if (e.key === "F2") beginRename(group.active);
    else if (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey)) dockUi.setState({ menu: group.active });
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  return (
    <div className={`dock-strip ${front && count > 1 ? "front" : ""} ${off ? "off" : ""} ${edge}`} style={style} data-strip={group.id}>
      <div className="dock-tabs" role="tablist" aria-label={count > 1 ? `Panels, group ${number} of ${count}` : "Panels"} ref={list} data-form={form} data-more={more} data-scrolls={hidden > 0} onWheel={(e) => e.deltaX === 0 && list.current && (list.current.scrollLeft += e.deltaY)}>
        {group.panels.map((id) => {
          const p = layout.panels[id];
          return p && <Tab key={id} channelId={channelId} panel={p} active={id === group.active} front={front} onKeyDown={onKeyDown} />;
        })}
      </div>
      {hidden > 0 && <TabsMenu layout={layout} group={group} hidden={hidden} />}
      {renamed && <Rename panel={renamed} />}
      <div className={`dock-tools ${path ? "" : "short"}`}>
        {(active && kindOf(active).tools?.(channelId)) ?? <span className="grow" />}
        {layout.zoom === group.id && (
          <Button look="small dock-alone" aria-label="Show all" title={zoomKey ? `Show all panes (${zoomKey})` : "Show all panes"} onClick={toggleZoom}>
            <Minimize2 size={12} aria-hidden /> {words && "Show all"}
          </Button>
        )}
        {plus && <NewMenu channelId={channelId} group={group} />}
        {active && <PanelMenu channelId={channelId} layout={layout} group={group} panel={active} opens={!plus} />}
      </div>
    </div>
  );
}

const NAME_PX = 160; // the least width of the field

/** The field for a new name. It stands over its tab, because a tab list may hold no field. */
function Rename({ panel }: { panel: Panel }) {
  const { id } = panel;
  const [named] = useState(() => kindOf(panel).rename?.(panel));
  const [text, setText] = useState(named?.name ?? "");
  const over = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const tab = document.getElementById(`tab-${id}`)?.parentElement;
    if (!field.current || !tab) return;
    const room = (field.current.parentElement?.clientWidth ?? 0) - NAME_PX;
    field.current.style.left = `${Math.max(0, Math.min(room, tab.offsetLeft - (tab.parentElement?.scrollLeft ?? 0)))}px`;
    field.current.style.width = `${Math.max(NAME_PX, tab.offsetWidth)}px`;
  }, [id]);
  const done = (save: boolean, byKey: boolean) => {
    if (over.current) return;
    over.current = true;
    if (save) named?.save(text.trim());
    endRename(id, byKey);
  };
  return (
    <input
      ref={field} className="dock-rename field" autoFocus value={text} maxLength={200} aria-label={named?.what} placeholder={named?.placeholder}
      onFocus={(e) => e.target.select()} onChange={(e) => setText(e.target.value)} onBlur={() => done(true, false)}
      onKeyDown={(e) => {
        if (composing(e)) return;
        e.stopPropagation();
        if (e.key === "Enter") done(true, true);
        else if (e.key === "Escape") done(false, true);
        else return;
        e.preventDefault();
      }}
    />
  );
}
