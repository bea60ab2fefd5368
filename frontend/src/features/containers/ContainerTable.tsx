import { ArrowDown, ArrowUp, Box, CircleAlert, CircleDashed, CircleDot, Clock3, Eye, Folder, GitBranch, Globe, Hourglass, Lock, MessageSquare, PenLine, Play, SquareTerminal, Trash2, TriangleAlert, User, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import type { ContainerWatch, HolderKind } from "../../api/types";
import type { ContainerRow, NextIcon } from "../../model/containers";
import type { ContainerOrder } from "../../model/container-order";
import { byColumn, COLUMNS, sortedHow } from "../../model/container-order";
import { bytes, limitOf, percent, usedOf } from "../../model/containers";
import { visible } from "../../model/text";
import { Spinner } from "../../ui/Mark";
import { SafeText } from "../../ui/SafeText";
import { useKeyText } from "../../ui/keys";
import { Sparkline } from "./Sparkline";

const HOLDERS: Record<HolderKind, ReactNode> = {
  run: <Play size={13} aria-hidden />, terminal: <SquareTerminal size={13} aria-hidden />, browser: <Globe size={13} aria-hidden />, git: <GitBranch size={13} aria-hidden />,
  "set-up": <Wrench size={13} aria-hidden />, person: <User size={13} aria-hidden />, prompt: <PenLine size={13} aria-hidden />,
};
export const holderIcon = (kind: HolderKind) => HOLDERS[kind] ?? <Eye size={13} aria-hidden />;

const NEXT: Record<NextIcon, ReactNode> = {
  lock: <Lock size={13} aria-hidden />, clock: <Clock3 size={13} aria-hidden />, hourglass: <Hourglass size={13} aria-hidden />, trash: <Trash2 size={13} aria-hidden />,
  warning: <TriangleAlert size={13} aria-hidden />,
};

export function channelIcon(r: ContainerRow): ReactNode {
  if (r.part === "browser") return <Globe size={13} aria-hidden />;
  switch (r.kind) {
    case "demo":
      return <Play size={13} aria-hidden />;
    case "thread":
      return <MessageSquare size={13} aria-hidden />;
    case "worktree":
      return <GitBranch size={13} aria-hidden />;
    case "gone":
      return <Box size={13} aria-hidden />;
    default:
      return <Folder size={13} aria-hidden />;
  }
}

export function StateMark({ r }: { r: ContainerRow }) {
  if (r.tone === "work") return <Spinner size={13} />;
  if (r.tone === "fail") return <CircleAlert size={13} aria-hidden />;
  return r.state === "running" ? <CircleDot size={13} aria-hidden /> : <CircleDashed size={13} aria-hidden />;
}

type Props = {
  rows: ContainerRow[]; watch: ContainerWatch; at: string; now: number; dimmed: boolean; order: ContainerOrder;
  onChoose(id: string): void; onOrder(o: ContainerOrder): void;
};

/** The rows. The list has the keyboard as a whole. */
export function ContainerTable({ rows, watch, at, now, dimmed, order, onChoose, onOrder }: Props) {
  const key = useKeyText();
  const [next, turn] = [key("containers.sort"), key("containers.turn")];
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => { // the panel had the keyboard while the containers were read
    if (document.activeElement?.matches(".containers-panel")) scroller.current?.focus();
  }, []);
  useEffect(() => {
    if (at) document.getElementById(`container-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div className={`containers-list ${dimmed ? "dimmed" : ""}`} ref={scroller} role="grid" tabIndex={0} aria-label="Containers of this Loop" aria-activedescendant={at ? `container-${at}` : undefined}>
      <div className="containers-row containers-cols" role="row">
        {COLUMNS.map((by) => (
          <span key={by} role="columnheader" aria-sort={sortedHow(order, by)}>
            <button type="button" className="containers-sort" tabIndex={-1} title={[`Sort by ${by.toLowerCase()}`, next && `${next}: the next column`, turn && `${turn}: the other way`].filter(Boolean).join(", ")} onClick={() => onOrder(byColumn(order, by))}>
              {by} {by === order.by && (order.up ? <ArrowUp size={12} aria-hidden /> : <ArrowDown size={12} aria-hidden />)}
            </button>
          </span>
        ))}
      </div>
      {rows.map((r) => <Row key={r.id} r={r} watch={watch} here={r.id === at} now={now} onChoose={onChoose} />)}
    </div>
  );
}

function Row({ r, watch, here, now, onChoose }: { r: ContainerRow; watch: ContainerWatch; here: boolean; now: number; onChoose(id: string): void }) {
  const cpuLimit = limitOf(r.c, "cpu", watch);
  const cpu = usedOf(r.c, "cpu", cpuLimit, now, 56, 18);
  const memory = usedOf(r.c, "memory", limitOf(r.c, "memory", watch), now, 56, 18);
  const ran = r.tone === "fail";
  return (
    <div className={`containers-row ${here ? "here" : ""}`} role="row" aria-selected={here} id={`container-${r.id}`} onClick={() => onChoose(r.id)}>
      <span role="gridcell" className={`containers-state ${r.tone}`}><StateMark r={r} /> {r.state}</span>
      <span role="gridcell" className="containers-who">
        <span className="containers-title">{channelIcon(r)} <span className="ellipsis"><SafeText text={r.title} />{r.part && ` · ${r.part}`}</span></span>
        <span className="containers-name mono ellipsis"><SafeText text={r.c.container_name} /></span>
      </span>
      <span role="gridcell" className="containers-held">
        {r.held.length === 0 ? "nobody" : r.held.map((h) => <span key={h.kind}>{holderIcon(h.kind)} {h.text}</span>)}
      </span>
      <span role="gridcell" className="tnum containers-up">{r.up}</span>
      <span role="gridcell" className={`tnum containers-used ${cpu?.high ? "high" : ""}`}>
        {r.c.status === "running" && <><Sparkline used={cpu} width={56} height={18} tone="cpu" /> <span>{cpu ? percent(cpu.now, cpuLimit) || `${cpu.now.toFixed(1)} CPUs` : "–"}</span></>}
      </span>
      <span role="gridcell" className={`tnum containers-used ${ran ? "fail" : memory?.high ? "high" : ""}`}>
        {(memory || r.c.status === "running") && <><Sparkline used={memory} width={56} height={18} tone={ran ? "fail" : "memory"} /> <span>{memory ? bytes(ran ? memory.most : memory.now) : "–"}</span></>}
      </span>
      <span role="gridcell" className="tnum containers-size">{r.c.size_bytes < 0 ? "–" : bytes(r.c.size_bytes)}</span>
      <span role="gridcell" className={`containers-next ${r.nextTone}`} title={visible(r.next)}>{NEXT[r.nextIcon]} <span className="ellipsis"><SafeText text={r.next} /></span></span>
    </div>
  );
}
