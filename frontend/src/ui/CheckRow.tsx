import { Check, CircleDashed, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { SafeText } from "./SafeText";
import { Spinner } from "./Mark";
import "./check.css";

export type CheckState = "ok" | "warn" | "fail" | "skip" | "busy" | "open";

const WORD: Record<CheckState, string> = { ok: "ready", warn: "look at this", fail: "failed", skip: "not tried", busy: "checking", open: "open" };

export function CheckIcon({ state }: { state: CheckState }) {
  switch (state) {
    case "ok":
      return <Check size={15} aria-label={WORD.ok} role="img" />;
    case "warn":
      return <TriangleAlert size={15} aria-label={WORD.warn} role="img" />;
    case "fail":
      return <X size={15} aria-label={WORD.fail} role="img" />;
    case "busy":
      return <Spinner size={14} />;
    default:
      return <CircleDashed size={15} aria-label={WORD[state]} role="img" />;
  }
}

type Props = { state: CheckState; title: string; summary: string; remedy?: string; detail?: string; aside?: ReactNode; children?: ReactNode };

/** One line of a checklist: its subject, its state and the remedy. */
export function CheckRow({ state, title, summary, remedy, detail, aside, children }: Props) {
  return (
    <li className={`check ${state}`}>
      <span className="check-icon"><CheckIcon state={state} /></span>
      <div className="check-text selectable">
        <h3>{title}</h3>
        <p><SafeText text={summary} /></p>
        {remedy && state !== "ok" && <p className="check-remedy"><SafeText text={remedy} /></p>}
        {children}
        {detail && state !== "ok" && (
          <details>
            <summary>Details</summary>
            <pre tabIndex={0}><SafeText text={detail} /></pre>
          </details>
        )}
      </div>
      {aside && <div className="check-aside tnum">{aside}</div>}
    </li>
  );
}
