import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, ChevronRight, Clock3, SquareTerminal, Undo2, Wrench, X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import type { ChannelID, GateLogGroup } from "../../api/types";
import { clock, exact, precise, when } from "../../model/clock";
import { plural } from "../../model/format";
import type { LogEntry, LogGroup, LogRow } from "../../model/gate-log";
import { byWords, countOf, decisionWord, objectWords, sentence, toneOf, tookWords } from "../../model/gate-log";
import { elideMiddle, visibleLine } from "../../model/gate-text";
import { frameStore, timelineOf, timelinesStore } from "../../model/stores";
import type { ToolItem } from "../../model/timeline/items";
import { describeTool } from "../../model/timeline/tools";
import { DecisionWord } from "../../ui/DecisionWord";
import { SafeLine, SafeText } from "../../ui/SafeText";

const ROW = 26, HEAD = 32; // pixels
const NEAR = 20; // rows before the end at which older ones are read

type Props = {
  channelId: ChannelID; rows: LogRow[]; counts: GateLogGroup[]; at: string; closed: boolean; detail: ReactNode;
  newest: unknown; // another one shows the newest entries
  atTop: RefObject<boolean>; // kept up to date: the newest entries are in sight
  more: (() => unknown) | null; // reads older ones
  onChoose(key: string): void; onFold(key: string, fold: boolean): void;
};

const keyOf = (r: LogRow | undefined) => (r?.kind === "entry" ? r.entry.key : (r?.group.key ?? ""));

/**
 * The rows, of which only those in sight are drawn. The list has the keyboard as a whole.
 * Older entries are read as its end comes near; a folded group there would ask for page after
 * page, and so has a button.
 */
export function LogList({ channelId, rows, counts, at, closed, detail, newest, atTop, more, onChoose, onFold }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virt = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, getItemKey: (i) => keyOf(rows[i]), estimateSize: (i) => (rows[i]?.kind === "group" ? HEAD : ROW), overscan: 12 });
  useEffect(() => { // the panel had the keyboard while the record was read
    if (document.activeElement?.matches(".decisions")) scroller.current?.focus();
  }, []);
  useEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0;
  }, [newest]);
  const index = rows.findIndex((r) => keyOf(r) === at);
  useEffect(() => {
    if (index >= 0) virt.scrollToIndex(index, { align: "auto" });
  }, [index, virt]);
  const items = virt.getVirtualItems();
  const near = (items.at(-1)?.index ?? 0) >= rows.length - NEAR;
  const folded = rows.at(-1)?.kind === "group";
  useEffect(() => {
    if (near && !folded) void more?.();
  }, [near, folded, more]);
  return (
    <>
      <div className="decisions-cols" aria-hidden><span>Time</span><span>Operation</span><span>Object</span><span>Decision</span><span>By</span><span>Took</span></div>
      <div className="decisions-list" ref={scroller} role="listbox" tabIndex={0} aria-label="Decisions" aria-activedescendant={index >= 0 ? `decision-${index}` : undefined}
        onScroll={(e) => (atTop.current = e.currentTarget.scrollTop < HEAD)}>
        <div className="sizer" role="presentation" style={{ height: virt.getTotalSize() }}>
          {items.map((v) => {
            const r = rows[v.index];
            if (!r) return null;
            const here = keyOf(r) === at;
            const id = `decision-${v.index}`;
            return (
              <div key={v.key} role="presentation" data-index={v.index} ref={virt.measureElement} className="decisions-slot" style={{ transform: `translateY(${v.start}px)` }}>
                {r.kind === "group" ? <Group id={id} channelId={channelId} g={r.group} count={countOf(counts, r.group)} open={r.open} here={here} onFold={onFold} /> : <Entry id={id} e={r.entry} here={here} onChoose={onChoose} />}
              </div>
            );
          })}
        </div>
      </div>
      {folded && near && more && <button type="button" className="decisions-news" onClick={() => more()}>Show older entries</button>}
      {!closed && detail && <div className="decisions-in-place">{detail}</div>}
    </>
  );
}

type GroupProps = { id: string; channelId: ChannelID; g: LogGroup; count: GateLogGroup | undefined; open: boolean; here: boolean; onFold(key: string, fold: boolean): void };

function Group({ id, channelId, g, count, open, here, onFold }: GroupProps) {
  const tool = useStore(timelinesStore, (all) => timelineOf(all, channelId).built.items.find((it): it is ToolItem => it.kind === "tool" && it.useId === g.tool && g.tool !== ""));
  const dir = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.dir ?? "");
  const v = tool ? describeTool(tool, dir) : null;
  const Icon = v?.icon === "run" ? SquareTerminal : Wrench;
  const name = v ? `${v.verb} ${v.object}` : g.tool ? "A tool call" : "Not of one tool call";
  const at = Date.parse(g.at);
  const calls = count ? plural(count.calls, "call") : "";
  return (
    <div className={`decisions-group ${here ? "here" : ""}`} role="option" aria-selected={here} id={id} title={visibleLine([name, calls, open ? "open" : "folded"].filter(Boolean).join(", "))} onClick={() => onFold(g.key, open)}>
      <ChevronRight size={13} className={`decisions-twist ${open ? "open" : ""}`} aria-hidden />
      <Icon size={14} aria-hidden />
      <span className="decisions-verb">{v ? v.verb : name}</span>
      <span className="mono ellipsis"><SafeText text={v?.object ?? ""} /></span>
      <span className="tnum decisions-time">{calls}</span>
      <span className="tnum decisions-time" title={exact(at)}>{when(at) === clock(at) ? precise(at) : `${when(at)}, ${precise(at)}`}</span>
    </div>
  );
}

const MARKS: Record<string, typeof Check> = { allowed: Check, denied: X, expired: Clock3, withdrawn: Undo2 };

function Entry({ id, e, here, onChoose }: { id: string; e: LogEntry; here: boolean; onChoose(key: string): void }) {
  const r = e.record;
  return (
    <div className={`decisions-row ${here ? "here" : ""}`} role="option" aria-selected={here} id={id} title={visibleLine(`${sentence(r)}, by ${byWords(r)}`)} onClick={() => onChoose(e.key)}>
      <span className="tnum decisions-time">{precise(Date.parse(r.at))}</span>
      <span className="decisions-op">{r.operation || "calls"}</span>
      <span className="mono ellipsis"><SafeLine text={elideMiddle(objectWords(r), 140)} />{r.calls > 1 && <span className="decisions-times tnum"> × {r.calls.toLocaleString("en")}</span>}</span>
      <DecisionWord tone={toneOf(r)} mark={MARKS[r.decision] ?? X}>{decisionWord(r)}</DecisionWord>
      <span className="ellipsis decisions-by"><SafeLine text={byWords(r)} /></span>
      <span className="tnum decisions-took">{tookWords(r)}</span>
    </div>
  );
}
