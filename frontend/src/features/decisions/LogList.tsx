import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, ChevronRight, Clock3, SquareTerminal, Undo2, Wrench, X } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { precise } from "../../model/clock";
import type { LogEntry, LogGroup, LogRow } from "../../model/gate-log";
import { byWords, decisionWord, objectWords, sentence, toneOf, tookWords } from "../../model/gate-log";
import { elideMiddle, visibleLine } from "../../model/gate-text";
import { frameStore, timelineOf, timelinesStore } from "../../model/stores";
import type { ToolItem } from "../../model/timeline/items";
import { describeTool } from "../../model/timeline/tools";
import { SafeLine, SafeText } from "../../ui/SafeText";

const ROW = 26, HEAD = 32; // pixels

type Props = { channelId: ChannelID; rows: LogRow[]; at: string; closed: boolean; detail: ReactNode; onChoose(key: string): void; onFold(key: string, fold: boolean): void };

const keyOf = (r: LogRow | undefined) => (r?.kind === "entry" ? r.entry.key : (r?.group.key ?? ""));

/** The rows, of which only those in sight are drawn. The list has the keyboard as a whole. */
export function LogList({ channelId, rows, at, closed, detail, onChoose, onFold }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virt = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, getItemKey: (i) => keyOf(rows[i]), estimateSize: (i) => (rows[i]?.kind === "group" ? HEAD : ROW), overscan: 12 });
  useEffect(() => { // the panel had the keyboard while the record was read
    if (document.activeElement?.matches(".decisions")) scroller.current?.focus();
  }, []);
  const index = rows.findIndex((r) => keyOf(r) === at);
  useEffect(() => {
    if (index >= 0) virt.scrollToIndex(index, { align: "auto" });
  }, [index, virt]);
  return (
    <>
      <div className="decisions-cols" aria-hidden><span>Time</span><span>Operation</span><span>Object</span><span>Decision</span><span>By</span><span>Took</span></div>
      <div className="decisions-list" ref={scroller} role="listbox" tabIndex={0} aria-label="Decisions" aria-activedescendant={index >= 0 ? `decision-${at}` : undefined}>
        <div className="sizer" role="presentation" style={{ height: virt.getTotalSize() }}>
          {virt.getVirtualItems().map((v) => {
            const r = rows[v.index];
            if (!r) return null;
            const here = keyOf(r) === at;
            return (
              <div key={v.key} role="presentation" data-index={v.index} ref={virt.measureElement} className="decisions-slot" style={{ transform: `translateY(${v.start}px)` }}>
                {r.kind === "group" ? <Group channelId={channelId} g={r.group} open={r.open} here={here} onFold={onFold} /> : <Entry e={r.entry} here={here} onChoose={onChoose} />}
              </div>
            );
          })}
        </div>
      </div>
      {!closed && detail && <div className="decisions-in-place">{detail}</div>}
    </>
  );
}

function Group({ channelId, g, open, here, onFold }: { channelId: ChannelID; g: LogGroup; open: boolean; here: boolean; onFold(key: string, fold: boolean): void }) {
  const tool = useStore(timelinesStore, (all) => timelineOf(all, channelId).built.items.find((it): it is ToolItem => it.kind === "tool" && it.useId === g.tool && g.tool !== ""));
  const dir = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.dir ?? "");
  const v = tool ? describeTool(tool, dir) : null;
  const Icon = v?.icon === "run" ? SquareTerminal : Wrench;
  const name = v ? `${v.verb} ${v.object}` : g.tool ? "A tool call" : "Not of one tool call";
  return (
    <div className={`decisions-group ${here ? "here" : ""}`} role="option" aria-selected={here} id={`decision-${g.key}`} title={visibleLine(`${name}, ${g.calls} calls, ${open ? "open" : "folded"}`)} onClick={() => onFold(g.key, open)}>
      <ChevronRight size={13} className={`decisions-twist ${open ? "open" : ""}`} aria-hidden />
      <Icon size={14} aria-hidden />
      <span className="decisions-verb">{v ? v.verb : name}</span>
      <span className="mono ellipsis"><SafeText text={v?.object ?? ""} /></span>
      <span className="tnum decisions-time">{precise(Date.parse(g.at))}</span>
    </div>
  );
}

const MARKS: Record<string, typeof Check> = { allowed: Check, denied: X, expired: Clock3, withdrawn: Undo2 };

function Entry({ e, here, onChoose }: { e: LogEntry; here: boolean; onChoose(key: string): void }) {
  const r = e.record;
  const Mark = MARKS[r.decision] ?? X;
  return (
    <div className={`decisions-row ${here ? "here" : ""}`} role="option" aria-selected={here} id={`decision-${e.key}`} title={visibleLine(`${sentence(r)}, by ${byWords(r)}`)} onClick={() => onChoose(e.key)}>
      <span className="tnum decisions-time">{precise(Date.parse(r.at))}</span>
      <span className="decisions-op">{r.operation || "calls"}</span>
      <span className="mono ellipsis"><SafeLine text={elideMiddle(objectWords(r), 140)} />{e.calls > 1 && <span className="decisions-times tnum"> × {e.calls.toLocaleString("en")}</span>}</span>
      <span className={`decisions-word ${toneOf(r)}`}><Mark size={13} aria-hidden /> {decisionWord(r)}</span>
      <span className="ellipsis decisions-by"><SafeLine text={byWords(r)} /></span>
      <span className="tnum decisions-took">{tookWords(r)}</span>
    </div>
  );
}
