import { ShieldAlert, ShieldQuestion } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useId, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Approval, Failure } from "../../api/types";
import type { Choice } from "../../model/gate";
import { isGrave, keyMeaning, offersOf, sight } from "../../model/gate";
import { Kbd } from "../Button";
import { FailureCard } from "../FailureCard";
import { composing, mod } from "../keys";
import { SafeText } from "../SafeText";
import { ApprovalButtons } from "./ApprovalButtons";
import { ApprovalFacts } from "./ApprovalFacts";
import { ApprovalHead } from "./ApprovalHead";
import { ApprovalRule } from "./ApprovalRule";
import type { CardActions } from "./cardActions";
import { FloodCard } from "./FloodCard";
import { useInert } from "./useInert";
import "./approval.css";

type Props = { a: Approval; nth: number; of: number; act: CardActions };

/** An approval that waits. */
export function ApprovalCard(props: Props) {
  return props.a.kind === "flood" ? <FloodCard {...props} /> : <CallCard {...props} />;
}

/**
 * A held call. The card itself takes the focus and never one of its buttons. Its
 * keys count only while the focus is within: Escape denies once, the chord allows once, and
 * Enter alone does nothing, on a button as little as on the card.
 */
function CallCard({ a, nth, of, act }: Props) {
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

  const Icon = isGrave(a) ? ShieldAlert : ShieldQuestion;
  return (
    <section
      className={`approval ${isGrave(a) ? "grave" : ""}`} role="group" tabIndex={0} data-approval={a.approval_id} data-deaf={deaf || undefined} aria-busy={busy}
      aria-labelledby={`${id}-title`} aria-describedby={`${id}-what`} aria-keyshortcuts="Escape Control+Enter" onKeyDown={onKeyDown} {...handlers}
    >
      <div className="approval-body">
        <ApprovalHead a={a} nth={nth} of={of} busy={busy} id={`${id}-title`} icon={<Icon size={15} aria-hidden />} go={act.go} onExtend={(e) => clicked(e, () => give(act.extend))}>
          <SafeText text={a.title} />
        </ApprovalHead>
        <ApprovalFacts a={a} id={`${id}-what`} />
        <ApprovalButtons a={a} busy={busy} choice={choice} onChoice={(c) => { setChoice(c); setOpen(true); }} onAnswer={(e, c) => clicked(e, () => answer(c))} />
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
