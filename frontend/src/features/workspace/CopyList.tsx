import { ArrowLeft, ArrowRight, ChevronRight, FilePen, FilePlus, FileX, Folder, FolderOpen, TriangleAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import type { CopyDifference } from "../../api/types";
import { exact, when } from "../../model/clock";
import { byteSize } from "../../model/byteSize";
import type { Row } from "../../model/workspace";
import { stateSentence, stateWord, wayOf } from "../../model/workspace";
import { SafeLine } from "../../ui/SafeText";

type Props = { rows: Row[]; at: string; ticked: ReadonlySet<string>; onChoose(row: Row): void; onTick(d: CopyDifference): void };

/** The files that differ: the original's left, the copy's right, and which way each would go. */
export function CopyList({ rows, at, ticked, onChoose, onTick }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const index = rows.findIndex((r) => r.path === at);
  useEffect(() => list.current?.querySelector(".here")?.scrollIntoView({ block: "nearest" }), [index]);
  return (
    <div className="workspace-list" ref={list} role="listbox" aria-multiselectable tabIndex={0} aria-label="Differences" aria-activedescendant={index >= 0 ? `difference-${index}` : undefined}>
      {rows.map((r, i) => (r.kind === "folder" ? (
        <div key={r.path} id={`difference-${i}`} role="option" aria-selected={false} className={`workspace-row workspace-folder ${i === index ? "here" : ""}`} onClick={() => onChoose(r)}>
          <ChevronRight size={13} className={`workspace-twist ${r.open ? "open" : ""}`} aria-hidden />
          {r.open ? <FolderOpen size={14} aria-hidden /> : <Folder size={14} aria-hidden />}
          <span className="ellipsis"><SafeLine text={r.path} /></span>
          <span className="workspace-count tnum">{r.count}<span className="sr-only"> {r.open ? "files, open" : "files, closed"}</span></span>
        </div>
      ) : (
        <File key={r.path} id={`difference-${i}`} r={r} here={i === index} on={ticked.has(r.path)} onChoose={onChoose} onTick={onTick} />
      )))}
    </div>
  );
}

const ICONS = { new: FilePlus, changed: FilePen, removed: FileX };

function File({ id, r, here, on, onChoose, onTick }: { id: string; r: Extract<Row, { kind: "file" }>; here: boolean; on: boolean; onChoose(row: Row): void; onTick(d: CopyDifference): void }) {
  const way = wayOf(r.d);
  const word = stateWord(r.d);
  const Icon = way === "choose" ? TriangleAlert : (ICONS[word as keyof typeof ICONS] ?? FilePen);
  return (
    <div id={id} role="option" aria-selected={on} data-way={way} data-word={word} className={`workspace-row ${here ? "here" : ""}`} onClick={() => onChoose(r)} title={`${r.path}, ${stateSentence(r.d)}`}>
      <span className={`workspace-tick ${on ? "on" : ""} ${way === "choose" ? "none" : ""}`} aria-hidden onClick={(e) => { e.stopPropagation(); onTick(r.d); }}>{on ? "✓" : ""}</span>
      <Side name={r.name} level={r.level} bytes={r.d.original_bytes} ms={r.d.original_ms ?? 0} side="original" />
      <span className="workspace-state">
        {way === "promote" && <ArrowLeft size={13} aria-hidden />}
        <Icon size={13} aria-hidden /> {word}
        {way === "pull" && <ArrowRight size={13} aria-hidden />}
        <span className="sr-only">{way === "choose" ? ", yours to decide" : ` in the ${way === "pull" ? "original" : "copy"}`}</span>
      </span>
      <Side name={r.name} level={r.level} bytes={r.d.copy_bytes} ms={r.d.copy_ms ?? 0} side="copy" />
    </div>
  );
}

function Side({ name, level, bytes, ms, side }: { name: string; level: number; bytes: number; ms: number; side: string }) {
  return (
    <span data-side={side} className={`workspace-side ${bytes < 0 ? "none" : ""}`} style={{ paddingLeft: (level - 1) * 18 + 8 }}>
      <span className="ellipsis">{bytes < 0 ? "not there" : <SafeLine text={name} />}</span>
      {bytes >= 0 && <span className="tnum workspace-size">{byteSize(bytes)}</span>}
      {ms > 0 && <time className="tnum workspace-time" dateTime={new Date(ms).toISOString()} title={exact(ms)}>{when(ms)}</time>}
    </span>
  );
}
