import { ShieldQuestion } from "lucide-react";
import { useStore } from "zustand";
import { stops, stopWords } from "../../model/gate";
import { frameStore, stopStore } from "../../model/stores";
import { KeyOf } from "../../ui/Button";
import { nextNeed } from "../../session/gate";
import { useAriaKeys, useKeyText } from "../../ui/keys";
import "./gate.css";

/** What waits for the person, in the top bar: never more than one key away. */
export function WaitingPill() {
  const approvals = useStore(frameStore, (f) => f.approvals);
  const questions = useStore(frameStore, (f) => f.questions);
  const channels = useStore(frameStore, (f) => f.channels);
  const at = useStore(stopStore, (s) => s.at);
  const key = useKeyText()("page.next-waiting");
  const aria = useAriaKeys("page.next-waiting");
  const all = stops(approvals, questions, channels);
  if (all.length === 0) return null;
  return (
    <button type="button" className="gate-pill tnum" onClick={() => nextNeed()} aria-keyshortcuts={aria} title={key ? `Go to the next one (${key})` : "Go to the next one"}>
      <ShieldQuestion size={14} aria-hidden />
      <span className="gate-pill-words">{stopWords(all, at)}</span>
      <span className="gate-pill-count" aria-hidden>{all.length}</span>
      <KeyOf of="page.next-waiting" />
    </button>
  );
}
