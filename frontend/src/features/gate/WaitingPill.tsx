import { ShieldQuestion } from "lucide-react";
import { useStore } from "zustand";
import { stops, stopWords } from "../../model/gate";
import { frameStore, stopStore } from "../../model/stores";
import { Kbd } from "../../ui/Button";
import { nextNeed } from "../../session/gate";
import "./gate.css";

/** What waits for the person, in the top bar: never more than one key away. */
export function WaitingPill() {
  const approvals = useStore(frameStore, (f) => f.approvals);
  const questions = useStore(frameStore, (f) => f.questions);
  const channels = useStore(frameStore, (f) => f.channels);
  const at = useStore(stopStore, (s) => s.at);
  const all = stops(approvals, questions, channels);
  if (all.length === 0) return null;
  return (
    <button type="button" className="gate-pill tnum" onClick={() => nextNeed()} aria-keyshortcuts="F8" title="Go to the next one (F8)">
      <ShieldQuestion size={14} aria-hidden />
      <span className="gate-pill-words">{stopWords(all, at)}</span>
      <span className="gate-pill-count" aria-hidden>{all.length}</span>
      <Kbd>F8</Kbd>
    </button>
  );
}
