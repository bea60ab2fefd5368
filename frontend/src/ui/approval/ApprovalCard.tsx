import { ChevronLeft, ChevronRight, CirclePause, Clock3, ShieldAlert, ShieldQuestion } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useId, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Approval, Failure } from "../../api/types";
import type { Choice } from "../../model/gate";
import { isGrave, keyMeaning, offersOf, sight, timeLeft } from "../../model/gate";
import { Button, IconButton, Kbd } from "../Button";
import { FailureCard } from "../FailureCard";
import { composing, mod } from "../keys";
import { SafeText } from "../SafeText";
import { useNow } from "../useNow";
import { ApprovalButtons, FloodButtons } from "./ApprovalButtons";
import { ApprovalFacts } from "./ApprovalFacts";
import { ApprovalRule } from "./ApprovalRule";
import { useInert } from "./useInert";
import "./approval.css";

/** What a card can do. Each throws a failure, which the card shows. */
export type CardActions = {
  answer(c: Choice): Promise<void>;
  extend(): Promise<void>;
  go(back: boolean): void; // to the next one that waits
  stop?(): void; // the run
};

type Props = { a: Approval; nth: number; of: number; act: CardActions };

/**
 * An approval that waits. The card itself takes the focus and never one of its buttons. Its
 * keys count only while the focus is within: Escape denies once, the chord allows once, and
 * Enter alone does nothing, on a button as little as on the card.
 */
export function ApprovalCard({ a, nth, of, act }: Props) {
  const offers = offersOf(a);
  const [open, setOpen] = useState(false);
  const [choice, setChoice] = useState<Choice>({ allow: true, scope: offers[0]?.scope ?? "once" });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const { deaf, isDeaf, clicked, handlers } = useInert(sight(a));
  const id = useId();

  const give = (f: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    setFailure(null);
    f().catch((err: unknown) => setFailure(toFailure(err))).finally(() => setBusy(false));
  };
  const answer = (c: Choice) => give(() => act.answer(c));

  function onKeyDown(e: KeyboardEvent) {
    if (composing(e) || e.nativeEvent.defaultPrevented) return;
    const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = e;
    // Keys without a modifier are not for the list around the card either.
    if (!ctrlKey && !metaKey && !altKey && !/^F\d/.test(key)) e.stopPropagation();
    const meaning = keyMeaning({ key, ctrlKey, metaKey, altKey, shiftKey, repeat, mod: mod(e.nativeEvent) });
    // Enter opens, copies and folds where it gives no answer.
    if (meaning === "" || (key === "Enter" && meaning === "nothing" && (e.target as HTMLElement).closest("[data-quiet]"))) return;
    e.preventDefault();
    e.stopPropagation();
    if (meaning === "rule") setOpen((o) => offers.length > 0 && !o);
    else if (meaning !== "nothing" && !isDeaf()) answer({ allow: meaning === "allow", scope: "once" });
  }

  const flood = a.kind === "flood";
  const Icon = flood ? CirclePause : isGrave(a) ? ShieldAlert : ShieldQuestion;
  return (
    <section
      className={`approval ${isGrave(a) ? "grave" : ""}`} role="group" tabIndex={0} data-approval={a.approval_id} data-deaf={deaf || undefined} aria-busy={busy}
      aria-labelledby={`${id}-title`} aria-describedby={`${id}-what`} aria-keyshortcuts="Escape Control+Enter" onKeyDown={onKeyDown} {...handlers}
    >
      <div className="approval-body">
        <header className="approval-head">
          <h3 id={`${id}-title`}>
            <Icon size={15} aria-hidden />
            <SafeText text={a.title} />
          </h3>
          <div className="approval-aside tnum">
            {of > 1 && nth > 0 && (
              <span className="approval-place">
                <IconButton small data-quiet name="Previous that waits" keys="Shift F8" onClick={() => act.go(true)}><ChevronLeft size={14} /></IconButton>
                {nth} of {of}
                <IconButton small data-quiet name="Next that waits" keys="F8" onClick={() => act.go(false)}><ChevronRight size={14} /></IconButton>
              </span>
            )}
            <TimeLeft a={a} />
            {a.deadline && <Button look="tiny" disabled={busy} onClick={(e) => clicked(e, () => give(act.extend))}>+5 min</Button>}
          </div>
        </header>
        <ApprovalFacts a={a} id={`${id}-what`} />
        {flood
          ? <FloodButtons a={a} busy={busy} onAnswer={(e, allow) => clicked(e, () => answer({ allow, scope: "once" }))} {...(act.stop ? { onStop: act.stop } : {})} />
          : <ApprovalButtons a={a} busy={busy} choice={choice} onChoice={(c) => { setChoice(c); setOpen(true); }} onAnswer={(e, c) => clicked(e, () => answer(c))} />}
        {offers.length > 0 && (
          <p className="approval-more">
            <button type="button" className="link" data-quiet aria-expanded={open} aria-keyshortcuts="R" onClick={() => setOpen(!open)}>{open ? "Hide the rule" : "Show the rule"}</button>
            <Kbd>R</Kbd>
          </p>
        )}
        {failure && <FailureCard failure={failure} />}
      </div>
      {open && offers.length > 0 && <ApprovalRule a={a} choice={choice} onChoice={setChoice} />}
    </section>
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
