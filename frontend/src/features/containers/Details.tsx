import { ArrowLeft, ChevronDown, Copy, RefreshCw, Square, Trash2, TriangleAlert } from "lucide-react";
import { Tabs } from "radix-ui";
import type { ContainerWatch } from "../../api/types";
import { shortPlace } from "../../model/container-why";
import type { ContainerRow } from "../../model/containers";
import { commandsFor, driftParts, holdersList, isHeld } from "../../model/containers";
import { plural } from "../../model/format";
import { toast } from "../../model/stores";
import { openFile } from "../../session/actions";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { Menu, MenuItem } from "../../ui/Menu";
import { SafeText } from "../../ui/SafeText";
import { channelIcon, StateMark } from "./ContainerTable";
import { LogTab } from "./LogTab";
import { Overview } from "./Overview";
import { PortsTab } from "./PortsTab";
import type { Asked } from "./Questions";
import { usePorts, useWhy } from "./useWatch";
import { WhyTab } from "./WhyTab";

export type Tab = "overview" | "why" | "logs" | "ports";
export const TABS: readonly (readonly [Tab, string])[] = [["overview", "Overview"], ["why", "Why"], ["logs", "Logs"], ["ports", "Ports"]];

type Props = {
  r: ContainerRow; watch: ContainerWatch; now: number; tab: Tab; off: boolean; menu: boolean;
  onMenu(open: boolean): void; onTab(tab: Tab): void; onAsk(what: Asked): void; onBack(): void;
};

/** All of one container. */
export function Details({ r, watch, now, tab, off, menu, onMenu, onTab, onAsk, onBack }: Props) {
  const { c } = r;
  const ports = usePorts(c, tab === "ports");
  const why = useWhy(c.type === "chrome" || r.kind === "gone" ? "" : c.channel_id, `${c.drift?.changed} ${(c.drift?.parts ?? []).join()}`);
  const counts: Partial<Record<Tab, number>> = { ...(why.why ? { why: (why.why.origins ?? []).length + (why.why.skipped ?? []).length } : {}), ...(ports.list ? { ports: ports.list.length } : {}) };
  const copy = async (text: string) => toast((await copyText(text)) ? `Copied: ${text}` : NOT_COPIED);
  return (
    <div className="containers-details" role="region" aria-label="The chosen container">
      <div className="containers-chosen">
        <IconButton name="Back to the list" keys="Esc" small className="containers-back" onClick={onBack}><ArrowLeft size={14} aria-hidden /></IconButton>
        <span className={`containers-state ${r.tone}`} title={r.state}><StateMark r={r} /></span>
        <h2 className="mono ellipsis selectable"><SafeText text={c.container_name} /></h2>
        <CopyIcon text={c.container_name} name="Copy the name" />
        <span className="containers-of ellipsis">{channelIcon(r)} <span className="ellipsis"><SafeText text={r.title} /></span></span>
        <span className="grow" />
        <div className="containers-acts">
          <Button look="small" disabled={off || !c.scope} title={c.scope ? undefined : "Nobody joins this container, so nothing takes its place"} onClick={() => onAsk("recreate")}><RefreshCw size={13} aria-hidden /> <span>Recreate…</span> <KeyOf of="containers.recreate" /></Button>
          <Button look="small" disabled={off || c.status !== "running"} onClick={() => onAsk("stop")}><Square size={13} aria-hidden /> <span>Stop…</span> <KeyOf of="containers.stop" /></Button>
          <Button look="small danger" disabled={off} onClick={() => onAsk("remove")}><Trash2 size={13} aria-hidden /> <span>Remove…</span> <KeyOf of="containers.remove" /></Button>
          <Menu open={menu} onOpenChange={onMenu} align="end" button={<Button look="small"><Copy size={13} aria-hidden /> <span>Copy command</span> <KeyOf of="containers.copy" /> <ChevronDown size={13} aria-hidden /></Button>}>
            {commandsFor(c).map((x) => <MenuItem key={x.text} name={<span className="containers-command">{x.name}<span className="mono"><SafeText text={x.text} /></span></span>} onSelect={() => void copy(x.text)} />)}
          </Menu>
        </div>
      </div>
      <Changed r={r} off={off} onAsk={onAsk} />
      <Tabs.Root value={tab} onValueChange={(t) => onTab(t as Tab)} className="containers-tabs">
        <Tabs.List className="containers-tablist" aria-label="Details">
          {TABS.map(([id, name]) => (
            <Tabs.Trigger key={id} value={id} className="containers-tab">{name}{counts[id] !== undefined && <span className="containers-count tnum">{counts[id]}</span>}</Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="overview" className="containers-content"><Overview r={r} watch={watch} now={now} /></Tabs.Content>
        <Tabs.Content value="why" className="containers-content"><WhyTab r={r} said={why} /></Tabs.Content>
        <Tabs.Content value="logs" className="containers-content"><LogTab c={c} /></Tabs.Content>
        <Tabs.Content value="ports" className="containers-content"><PortsTab r={r} ports={ports} /></Tabs.Content>
      </Tabs.Root>
    </div>
  );
}

/** Says what of the settings differs from the container, and what comes of it. */
function Changed({ r, off, onAsk }: { r: ContainerRow; off: boolean; onAsk(what: Asked): void }) {
  const { c } = r;
  const d = c.drift;
  if (!d?.changed) return null;
  const parts = driftParts(d);
  const files = [...new Map((d.origins ?? []).filter((o) => o.path).map((o) => [`${o.path}:${o.line}`, o])).values()].slice(0, 3);
  const who = holdersList(c.holders ?? []);
  const then = !d.replaced
    ? "It serves on, and another is made once this one was not used for five minutes."
    : isHeld(c) ? `${who.charAt(0).toUpperCase()}${who.slice(1)} ${(c.holders ?? []).length === 1 ? "finishes" : "finish"} with what was there. Nothing new starts here, and the next use makes another.` : "The next run or terminal gets another.";
  return (
    <div className="containers-changed" role="note">
      <TriangleAlert size={14} aria-hidden />
      <p>
        <strong><SafeText text={parts.charAt(0).toUpperCase() + parts.slice(1)} /> changed</strong>
        {files.length > 0 && " in "}
        {files.map((o, i) => (
          <span key={`${o.path}:${o.line}`}>{i > 0 && ", "}<button type="button" className="link mono" title={`${o.path}${o.line ? `:${o.line}` : ""}`} onClick={() => openFile(c.channel_id, o.path ?? "", o.line ?? 1)}>{shortPlace(o.path ?? "", o.line ?? 0)}</button></span>
        ))}
        . {then}{(d.origins ?? []).length > 3 && ` ${plural((d.origins ?? []).length, "setting")} in all.`}
      </p>
      <button type="button" className="link" disabled={off || !c.scope} onClick={() => onAsk("recreate")}>See what recreating loses</button>
    </div>
  );
}
