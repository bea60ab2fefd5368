import { ChevronLeft, ChevronRight, Clock3 } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import type { Approval } from "../../api/types";
import { timeLeft } from "../../model/gate";
import { Button, IconButton } from "../Button";
import { useNow } from "../useNow";

type Props = { a: Approval; nth: number; of: number; busy: boolean; id: string; icon: ReactNode; children: ReactNode; go(back: boolean): void; onExtend(e: MouseEvent): void };

/** The first line of a card: what waits, its place among all that waits, and its time. */
export function ApprovalHead({ a, nth, of, busy, id, icon, children, go, onExtend }: Props) {
  return (
    <header className="approval-head">
      <h3 id={id}>
        {icon}
        {children}
      </h3>
      <div className="approval-aside tnum">
        {of > 1 && nth > 0 && (
          <span className="approval-place">
            <IconButton small data-quiet name="Previous that waits" action="page.previous-waiting" onClick={() => go(true)}><ChevronLeft size={14} /></IconButton>
            {nth} of {of}
            <IconButton small data-quiet name="Next that waits" action="page.next-waiting" onClick={() => go(false)}><ChevronRight size={14} /></IconButton>
          </span>
        )}
        <TimeLeft a={a} />
        {a.deadline && <Button look="tiny" disabled={busy} onClick={onExtend}>+5 min</Button>}
      </div>
    </header>
  );
}

function TimeLeft({ a }: { a: Approval }) {
  const now = useNow(Boolean(a.deadline));
  const left = timeLeft(a, now);
  return (
    <span className="approval-time">
      <Clock3 size={13} aria-hidden />
      {left ? `${a.kind === "flood" ? `all ${a.calls} denied` : "denied"} in ${left}` : "waits until you answer"}
    </span>
  );
}
