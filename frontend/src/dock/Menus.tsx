import { Columns2, Ellipsis, Equal, Maximize2, Minimize2, Move, Plus, Rows2, X } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { Fragment } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../api/types";
import type { Group, Layout, Panel } from "../model/dock/layout";
import { TIMELINE } from "../model/dock/layout";
import { dockUi } from "../model/dock/store";
import { IconButton } from "../ui/Button";
import { keyText } from "../ui/keys";
import { Menu, MenuItem, MenuLine, SubMenu } from "../ui/Menu";
import { evenOut, goInto, moveTab, requestClose, runDockKey, split, toggleZoom } from "./dock";
import type { PanelCommand } from "./panels";
import { allKinds, kindOf, useFace, usePanelChanges } from "./panels";

type Place = { channelId: ChannelID; group: Group };

/** The commands of all kinds that open a panel here. */
function useOffers({ channelId, group }: Place): PanelCommand[] {
  usePanelChanges();
  // A group with nothing but the timeline gets no tab: the panel opens beside it.
  const at = group.panels.length === 1 && group.active === TIMELINE ? "" : group.id;
  return allKinds().flatMap((k) => k.opens?.(channelId, at).map((c) => ({ ...c, id: `${k.kind} ${c.id}` })) ?? []).filter((c) => c.label);
}

export function NewMenu(place: Place) {
  const hidden = useOffers(place).filter((c) => c.hidden).length;
  return (
    <Menu align="end" button={
      <IconButton small name={hidden > 0 ? `Open a panel (${hidden} without a pane)` : "Open a panel"} className={`dock-plus ${hidden > 0 ? "dotted" : ""}`}>
        <Plus size={15} />
      </IconButton>
    }>
      <NewItems {...place} />
    </Menu>
  );
}

/** Items that open new panels, and items for sessions that have no panel. */
function NewItems(place: Place) {
  const all = useOffers(place);
  const hidden = all.filter((c) => c.hidden);
  return (
    <>
      <Commands list={all.filter((c) => !c.hidden && !c.apart)} />
      {hidden.length > 0 && (
        <>
          <MenuLine />
          <DropdownMenu.Label className="menu-label">Without a pane</DropdownMenu.Label>
          <Commands list={hidden} />
        </>
      )}
      <Commands list={all.filter((c) => c.apart)} />
    </>
  );
}

function Commands({ list }: { list: PanelCommand[] }) {
  return list.map((c) => (
    <Fragment key={c.id}>
      {c.apart && <MenuLine />}
      <MenuItem icon={c.icon} name={c.label} hint={c.hint ?? ""} disabled={c.disabled ?? false} danger={c.danger ?? false} onSelect={c.run} />
    </Fragment>
  ));
}

/** The menu of the panel in front. opens: it also has the plus button's items, because the button has no room. */
export function PanelMenu({ channelId, layout, group, panel, opens }: Place & { layout: Layout; panel: Panel; opens: boolean }) {
  const open = useStore(dockUi, (u) => u.menu === panel.id);
  useStore(dockUi, (u) => u.broadcast);
  const kind = kindOf(panel);
  const face = useFace(panel);
  const several = layout.root.kind === "split";
  const acts = kind.acts?.(panel).filter((c) => c.label) ?? [];
  return (
    <Menu className="dock-menu" align="end" open={open} onOpenChange={(o) => dockUi.setState({ menu: o ? panel.id : "" })} button={
      <IconButton small name={`Actions for ${face.title}`}>
        <Ellipsis size={15} />
      </IconButton>
    }>
      {opens && <NewItems channelId={channelId} group={group} />}
      {opens && <MenuLine />}
      <MenuItem icon={<Columns2 size={14} aria-hidden />} name="Split right" hint={keyText("panes.split-right")} onSelect={() => split("right", panel.id)} />
      <MenuItem icon={<Rows2 size={14} aria-hidden />} name="Split down" hint={keyText("panes.split-down")} onSelect={() => split("down", panel.id)} />
      <MenuLine />
      <MenuItem icon={layout.zoom ? <Minimize2 size={14} aria-hidden /> : <Maximize2 size={14} aria-hidden />} name={layout.zoom ? "Show all panes" : "Show alone"} hint={keyText("panes.zoom")} disabled={!several} onSelect={() => { goInto(panel.id); toggleZoom(); }} />
      <SubMenu icon={<Move size={14} aria-hidden />} name="Move" disabled={!several && group.panels.length < 2}>
        {(["left", "right", "up", "down"] as const).map((side) => (
          <MenuItem key={side} name={{ left: "Left", right: "Right", up: "Up", down: "Down" }[side]} onSelect={() => { moveTab(side, panel.id); goInto(panel.id); }} />
        ))}
      </SubMenu>
      <MenuItem icon={<Move size={14} aria-hidden />} name="Arrange by keys" hint={keyText("panes.arrange")} disabled={!several && group.panels.length < 2} onSelect={() => { goInto(panel.id); runDockKey({ do: "arrange" }); }} />
      <MenuItem icon={<Equal size={14} aria-hidden />} name="Make all the same size" disabled={!several} onSelect={evenOut} />
      {acts.length > 0 && <MenuLine />}
      <Commands list={acts} />
      {panel.id !== TIMELINE && (
        <>
          <MenuLine />
          <MenuItem icon={<X size={14} aria-hidden />} name="Close" danger hint={keyText("panes.close")} onSelect={() => requestClose(panel.id)} />
        </>
      )}
    </Menu>
  );
}
