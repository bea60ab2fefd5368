import { ShieldQuestion } from "lucide-react";
import type { Approval } from "../../api/types";
import { timeLeft, wish } from "../../model/gate";
import { elideMiddle } from "../../model/gate-text";
import { Button } from "../Button";
import { SafeLine } from "../SafeText";
import { useNow } from "../useNow";
import "./approval.css";

type Props = { a: Approval; more: number; note?: string; onReview(): void };

/** Says in a pane that its run or program waits for the person, and leads to the card. */
export function ApprovalBanner({ a, more, note, onReview }: Props) {
  const now = useNow(Boolean(a.deadline));
  const left = timeLeft(a, now);
  return (
    <div className="banner need approval-banner">
      <ShieldQuestion size={14} aria-hidden />
      <p>
        <strong><SafeLine text={elideMiddle(wish(a), 80)} /></strong>{" "}
        {a.kind !== "flood" && <span className="mono"><SafeLine text={elideMiddle(a.target, 90)} /></span>}
        <span className="tnum">{left ? ` · denied in ${left}` : ""}{more > 0 ? ` · ${more} more` : ""}</span>
        {note && <span className="approval-banner-note">{note}</span>}
      </p>
      <Button look="small" onClick={onReview}>Review <span className="sr-only">what waits</span></Button>
    </div>
  );
}
