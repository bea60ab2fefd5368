import { Check, Clock3, Layers, ShieldQuestion, Unplug, Undo2, X } from "lucide-react";
import type { Approval } from "../../api/types";
import { answererWords, stateWords, verb } from "../../model/gate";
import { SafeLine } from "../SafeText";
import "./approval.css";

const ICONS = { waiting: ShieldQuestion, allowed: Check, denied: X, expired: Clock3, withdrawn: Undo2, broken: Unplug, gathered: Layers };

/** An approval that needs no answer any more, in one line. */
export function ApprovalLine({ a }: { a: Approval }) {
  const Icon = ICONS[a.state] ?? ShieldQuestion;
  return (
    <>
      <Icon size={14} aria-hidden className={`approval-mark ${a.state}`} />
      <span className={`approval-word ${a.state}`}>{stateWords(a)}</span>
      <span className="mono ellipsis approval-target">{verb(a)} <SafeLine text={a.target} /></span>
      <span className="approval-by">{answererWords(a)}</span>
    </>
  );
}
