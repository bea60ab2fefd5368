import { Check, ChevronRight, FileText, Search } from "lucide-react";
import { plural } from "../../../model/format";
import type { ReadsItem } from "../../../model/timeline/items";
import { readsWords } from "../../../model/timeline/reads";
import { SafeText } from "../../../ui/SafeText";
import type { RowProps } from "./props";

/** A run of reads and searches. Its own rows follow in the list while it is open. */
export function ReadsRow({ item, open, onToggle, dir }: RowProps<ReadsItem> & { dir: string }) {
  const w = readsWords(item, dir);
  const Icon = w.verb.startsWith("Read") ? FileText : Search;
  return (
    <div className="main">
      <button type="button" className={`line ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Icon size={14} aria-hidden />
        <span className="verb">{w.verb}</span>
        {w.folders && <span className="object ellipsis mono"><SafeText text={w.folders} /></span>}
        {w.searched && <span className="note ellipsis">{w.searched}</span>}
        <span className="marks tnum">
          <span className="mark">
            {w.lines > 0 && plural(w.lines, "line")}
            <Check size={13} aria-label="succeeded" className="tick" />
          </span>
        </span>
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
    </div>
  );
}
