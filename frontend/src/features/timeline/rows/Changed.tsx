import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Outcome } from "../../../model/timeline/changedfiles";
import { relativeTo } from "../../../model/text";
import { viewStore } from "../../../model/stores";
import { SafeText } from "../../../ui/SafeText";
import { showInTimeline } from "../../../session/gate";
import "./changed.css";

const FEW = 5;

/** The files that a run has changed, each leading to the call that did so first. */
export function Changed({ outcome, dir }: { outcome: Outcome; dir: string }) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const { files } = outcome;
  const shown = all ? files : files.slice(0, FEW);
  return (
    <div className="changed">
      <button type="button" className="changed-sum tnum" aria-expanded={open} onClick={() => setOpen(!open)}>
        {outcome.words} <Lines added={outcome.added} removed={outcome.removed} />
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && (
        <ul className="changed-files" aria-label="Changed files">
          {shown.map((f) => (
            <li key={f.path}>
              <button type="button" className="link mono" title={`Go to the first change of ${f.path}`} onClick={() => showInTimeline(viewStore.getState().selected, [`tool ${f.useId}`])}>
                <SafeText text={relativeTo(f.path, dir)} />
              </button>
              <span className="tnum"><Lines added={f.added} removed={f.removed} /></span>
            </li>
          ))}
          {files.length > shown.length && (
            <li><button type="button" className="link" onClick={() => setAll(true)}>{files.length - shown.length} more</button></li>
          )}
        </ul>
      )}
    </div>
  );
}

function Lines({ added, removed }: { added: number; removed: number }) {
  return (
    <>
      {added > 0 && <span className="plus">+{added}</span>} {removed > 0 && <span className="minus">−{removed}</span>}
    </>
  );
}
