import { ChevronRight, CornerRightDown, History, Undo2 } from "lucide-react";
import { useStore } from "zustand";
import { clock } from "../../../model/clock";
import { plural } from "../../../model/format";
import { undoable, wentWords } from "../../../model/rewind";
import { timelineOf, timelinesStore, viewStore } from "../../../model/stores";
import { oneLine } from "../../../model/text";
import { isFoldable } from "../../../model/timeline/fold";
import type { RewoundItem } from "../../../model/timeline/items";
import { undo } from "../../../session/rewind";
import { Button } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import type { RowProps } from "./props";
import "./rewound.css";

/** Went back to before a prompt. What left is folded behind it. */
export function RewoundRow({ item, open, onToggle }: RowProps<RewoundItem>) {
  const r = item.rewind;
  const may = useStore(timelinesStore, (all) => undoable(timelineOf(all, viewStore.getState().selected).built.items, item));
  const folds = isFoldable(item);
  return (
    <div className="main rewound-main">
      <div className="rewound-line">
        <History size={14} aria-hidden />
        <span className="rewound-words">{wentWords(r, clock(r.prompt_ms))}</span>
        <span className="rewound-prompt ellipsis"><SafeText text={oneLine(r.prompt)} /></span>
        {r.files > 0 && <span className="rewound-fact">{plural(r.files, "file")}</span>}
        {may && (
          <Button look="small" onClick={() => void undo(r.id)}>
            <Undo2 size={12} aria-hidden />
            Undo
          </Button>
        )}
      </div>
      {folds && (
        <button type="button" className="link small" tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
          <ChevronRight size={12} className={`twist ${open ? "open" : ""}`} aria-hidden />
          {open ? "Fold" : "Show"} {plural(r.leaves?.length ?? 0, "prompt")} that left the conversation
        </button>
      )}
    </div>
  );
}

/** Stands above the first row that would leave. */
export function LeavesLine({ words }: { words: string }) {
  return (
    <div className="rewound-leaves">
      <div className="column">
        <CornerRightDown size={13} aria-hidden />
        <strong>Leaves the conversation</strong> <span>{words}</span>
      </div>
    </div>
  );
}
