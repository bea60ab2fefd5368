import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, File, FileQuestion, FileSymlink, Folder, FolderOpen, TriangleAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import { exact, when } from "../../model/clock";
import { byteSize } from "../../model/byteSize";
import type { TreeRow } from "../../model/file-tree";
import { visibleLine } from "../../model/gate-text";
import { SafeLine } from "../../ui/SafeText";

const ROW = 24; // pixels

const WORDS: Record<string, string> = { folder: ", folder", link: ", a link", other: ", no ordinary file" };

type Props = { rows: TreeRow[]; at: string; onChoose(row: TreeRow): void };

/** Names one row: a word about a folder stands below the folder's own row. */
export const rowKey = (r: TreeRow) => (r.kind === "word" ? `${r.path}\n${r.text}` : r.path);

/** The rows, of which only those in sight are drawn. The tree has the keyboard as a whole. */
export function FileTree({ rows, at, onChoose }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virt = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, getItemKey: (i) => (rows[i] ? rowKey(rows[i]) : i), estimateSize: () => ROW, overscan: 12 });
  const index = rows.findIndex((r) => rowKey(r) === at);
  useEffect(() => {
    if (index >= 0) virt.scrollToIndex(index, { align: "auto" });
  }, [index, virt]);
  return (
    <div className="files-tree" ref={scroller} role="tree" tabIndex={0} aria-label="Files" aria-activedescendant={index >= 0 ? `file-${index}` : undefined}>
      <div className="sizer" role="presentation" style={{ height: virt.getTotalSize() }}>
        {virt.getVirtualItems().map((v) => {
          const r = rows[v.index];
          if (!r) return null;
          const here = v.index === index;
          return (
            <div key={v.key} id={`file-${v.index}`} role="treeitem" aria-level={r.level} aria-selected={here} aria-expanded={r.kind === "file" && r.folder ? r.open : undefined}
              aria-setsize={rows.length} aria-posinset={v.index + 1} className={`files-row ${here ? "here" : ""} ${r.kind === "word" ? "files-word" : ""}`} style={{ transform: `translateY(${v.start}px)`, paddingLeft: 8 + (r.level - 1) * 16 }}
              title={visibleLine(r.kind === "word" ? (r.failure ? `${r.failure.cause} ${r.failure.remedy}` : r.text) : r.path)} onClick={() => onChoose(r)}>
              <Row r={r} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row({ r }: { r: TreeRow }) {
  if (r.kind === "word") return <>{r.failure && <TriangleAlert size={13} aria-hidden />}<span className={r.reading ? "files-reading ellipsis" : "ellipsis"}><SafeLine text={r.text} /></span></>;
  const { file } = r;
  const Icon = r.folder ? (r.open ? FolderOpen : Folder) : file.kind === "link" ? FileSymlink : file.kind === "other" ? FileQuestion : File;
  return (
    <>
      <ChevronRight size={13} className={`files-twist ${r.open ? "open" : ""} ${r.folder ? "" : "none"}`} aria-hidden />
      <Icon size={14} className="files-icon" aria-hidden />
      <span className="ellipsis files-name"><SafeLine text={file.name} />{file.kind === "link" && <span className="files-link"> → <SafeLine text={file.link ?? ""} /></span>}<span className="sr-only">{WORDS[file.kind] ?? ""}</span></span>
      {file.kind === "file" && <span className="tnum files-size">{byteSize(file.bytes)}</span>}
      {file.modified_ms > 0 && <time className="tnum files-time" dateTime={new Date(file.modified_ms).toISOString()} title={exact(file.modified_ms)}>{when(file.modified_ms)}</time>}
    </>
  );
}
