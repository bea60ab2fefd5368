import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import type { Group, Layout, Panel } from "../model/dock/layout";
import { groups, TIMELINE } from "../model/dock/layout";
import { Kbd } from "../ui/Button";
import { keys, MOD } from "../ui/keys";
import { front } from "../ui/layer";
import { Menu } from "../ui/Menu";
import { SafeText } from "../ui/SafeText";
import { goInto, requestClose } from "./dock";
import { kindOf, useFace } from "./panels";
import { Marks } from "./Tab";

/** The list of all tabs of a group, for a strip that has no room for them. */
export function TabsMenu({ layout, group, hidden }: { layout: Layout; group: Group; hidden: number }) {
  const [open, setOpen] = useState(false);
  const all = groups(layout.root).flatMap((g) => g.panels);
  return (
    <Menu className="dock-list-menu" align="end" open={open} onOpenChange={setOpen} button={
      <button type="button" className="dock-list tnum" aria-label={`${hidden} more ${hidden === 1 ? "tab" : "tabs"}: list all`} title="All tabs of this group">
        <ChevronDown size={13} aria-hidden /> {hidden}
      </button>
    }>
      <DropdownMenu.Label className="menu-label">{group.panels.length} tabs of this group</DropdownMenu.Label>
      {group.panels.map((id) => {
        const p = layout.panels[id];
        return p && <Line key={id} panel={p} shown={id === group.active} number={all.indexOf(id) + 1} onClose={() => { front.after(() => requestClose(id)); setOpen(false); }} />;
      })}
      <p className="dock-list-keys" aria-hidden><Kbd>↑</Kbd> <Kbd>↓</Kbd> choose <Kbd>Enter</Kbd> show <Kbd>Del</Kbd> close tab</p>
    </Menu>
  );
}

function Line({ panel, shown, number, onClose }: { panel: Panel; shown: boolean; number: number; onClose(): void }) {
  const kind = kindOf(panel);
  const face = useFace(panel);
  const closes = panel.id !== TIMELINE;
  return (
    <DropdownMenu.Item className="menu-item" aria-keyshortcuts={closes ? "Delete" : undefined} onSelect={() => front.after(() => goInto(panel.id))} onKeyDown={(e) => e.key === "Delete" && closes && onClose()}>
      {kind.icon(panel, 14)}
      <span className="ellipsis"><SafeText text={face.title} /></span>
      {kind.onHost?.(panel) && <span className="dock-host">This computer</span>}
      <Marks face={face} active={shown} />
      {shown ? <span className="menu-word"><Check size={12} aria-hidden /> shown</span> : number < 9 && <Kbd>{keys(MOD, String(number))}</Kbd>}
    </DropdownMenu.Item>
  );
}
