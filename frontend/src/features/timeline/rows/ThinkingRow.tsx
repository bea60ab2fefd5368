import { Brain, ChevronRight } from "lucide-react";
import { oneLine } from "../../../model/text";
import type { ThinkingItem } from "../../../model/timeline/items";
import { SafeText } from "../../../ui/SafeText";
import { Markdown } from "../Markdown";
import { CutOff } from "./CutOff";
import type { RowProps } from "./props";

export function ThinkingRow({ item, open, onToggle }: RowProps<ThinkingItem>) {
  const tail = item.live ? (item.text.trimEnd().split("\n").at(-1) ?? "") : oneLine(item.text);
  return (
    <div className="main">
      <button type="button" className="line quiet" tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Brain size={14} aria-hidden />
        <span className="verb">{item.live ? "Thinking" : "Thought"}</span>
        {!open && (
          <span className="object prose-object ellipsis">
            <SafeText text={tail} />
          </span>
        )}
        {item.cut && !open && (
          <span className="marks">
            <span className="mark">cut off</span>
          </span>
        )}
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && (
        <div className="thought prose selectable">
          <Markdown text={item.text} live={item.live} />
          {item.cut && <CutOff />}
        </div>
      )}
    </div>
  );
}
