import { CirclePause, Square } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useId, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Approval, Failure, GroupVerdict } from "../../api/types";
import type { Chosen } from "../../model/gate-flood";
import { answered, answersOf, choose, floodKey, floodTitle, groupsOf, leftWords } from "../../model/gate-flood";
import { sight } from "../../model/gate";
import { Button, Kbd, KeyOf } from "../Button";
import { FailureCard } from "../FailureCard";
import { composing, keys, mod, MOD } from "../keys";
import { ApprovalFacts } from "./ApprovalFacts";
import { ApprovalHead } from "./ApprovalHead";
import type { CardActions } from "./cardActions";
import { FloodGroup } from "./FloodGroup";
import { useInert } from "./useInert";
import "./approval.css";
import "./flood.css";

type Props = { a: Approval; nth: number; of: number; act: CardActions };

/**
 * A run that asks too much. Nothing is chosen at first. D, A and O choose for the group that
 * has the focus, the arrows walk the groups, and only the chord sends; Escape denies all.
 */
export function FloodCard({ a, nth, of, act }: Props) {
  const [chosen, setChosen] = useState<Chosen>({});
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(""); // the group that the keys are for
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const { deaf, isDeaf, clicked, handlers } = useInert(sight(a));
  const card = useRef<HTMLElement>(null);
  const id = useId();
  const groups = groupsOf(a);
  const place = Math.max(0, groups.findIndex((g) => g.id === at));
  const current = groups[place];
  const n = answered(a, chosen);

  const give = (f: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    setFailure(null);
    f().catch((err: unknown) => setFailure(toFailure(err))).finally(() => setBusy(false));
  };
  const denyAll = () => give(() => act.answer({ allow: false, scope: "once" }));
  const send = () => {
    const answers = answersOf(groups, chosen);
    if (answers.length > 0) give(() => act.answerGroups(answers));
  };
  const pick = (g: (typeof groups)[number], v: GroupVerdict) => {
    setAt(g.id);
    setChosen((c) => choose(c, g, v));
  };
  const fold = (gid: string, to: boolean) => setOpen((o) => new Set(to ? [...o, gid] : [...o].filter((x) => x !== gid)));
  const walk = (i: number) => {
    const g = groups[Math.min(groups.length - 1, Math.max(0, i))];
    if (!g) return;
    setAt(g.id);
    [...(card.current?.querySelectorAll<HTMLElement>("[data-group]") ?? [])].find((el) => el.dataset.group === g.id)?.focus();
  };

  function onKeyDown(e: KeyboardEvent) {
    if (composing(e) || e.nativeEvent.defaultPrevented) return;
    const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = e;
    if (!ctrlKey && !metaKey && !altKey && !/^F\d/.test(key)) e.stopPropagation();
    const meaning = floodKey({ key, ctrlKey, metaKey, altKey, shiftKey, repeat, mod: mod(e.nativeEvent) }, current?.once_only === true);
    if (meaning === "" || (key === "Enter" && meaning === "nothing" && (e.target as HTMLElement).closest("[data-quiet]"))) return;
    e.preventDefault();
    e.stopPropagation();
    // From the card itself the first step is onto its first group.
    const outside = !(e.target as HTMLElement).closest("[data-group]");
    if (meaning === "down") walk(outside ? place : place + 1);
    else if (meaning === "up") walk(place - 1);
    else if (meaning === "first") walk(0);
    else if (meaning === "last") walk(groups.length - 1);
    else if (meaning === "nothing" || !current) return;
    else if (meaning === "open" || meaning === "close") fold(current.id, meaning === "open");
    else if (isDeaf() || repeat) return;
    else if (meaning === "deny-all") denyAll();
    else if (meaning === "send") send();
    else pick(current, meaning.choose);
  }

  return (
    <section
      className="approval flood" role="group" tabIndex={0} ref={card} data-approval={a.approval_id} data-deaf={deaf || undefined} aria-busy={busy}
      aria-labelledby={`${id}-title`} aria-describedby={`${id}-what`} aria-keyshortcuts="Escape Control+Enter D A O" onKeyDown={onKeyDown} {...handlers}
    >
      <div className="approval-body">
        <ApprovalHead a={a} nth={nth} of={of} busy={busy} id={`${id}-title`} icon={<CirclePause size={15} aria-hidden />} go={act.go} onExtend={(e) => clicked(e, () => give(act.extend))}>
          {floodTitle(a)}
        </ApprovalHead>
        <ApprovalFacts a={a} id={`${id}-what`} />
      </div>
      <ul className="flood-groups" aria-label="Groups of calls">
        {groups.map((g) => (
          <FloodGroup key={g.id} g={g} a={a} chosen={chosen} current={g === current} open={open.has(g.id)} busy={busy}
            onFocus={() => setAt(g.id)} onOpen={(to) => fold(g.id, to)} onChoose={(v) => !isDeaf() && pick(g, v)} />
        ))}
      </ul>
      <div className="approval-body flood-foot">
        <div className="approval-buttons">
          <Button disabled={busy || n === 0} onClick={(e) => clicked(e, send)}>Answer {n} of {a.calls} <Kbd>{keys(MOD, "↵")}</Kbd></Button>
          <Button disabled={busy} onClick={(e) => clicked(e, denyAll)}>Deny all {a.calls} <Kbd>Esc</Kbd></Button>
          {act.stop && <Button onClick={act.stop}><Square size={11} aria-hidden /> Stop the run <KeyOf of="page.stop" /></Button>}
        </div>
        {act.rules && <p className="approval-more"><button type="button" className="link" data-quiet onClick={act.rules}>Open rules</button></p>}
        <p className="flood-left" aria-live="polite">{leftWords(a, chosen)}</p>
        <p className="flood-keys" aria-hidden>
          <span><Kbd>↑ ↓</Kbd> group</span> <span><Kbd>→</Kbd> open</span> <span><Kbd>D</Kbd> deny</span> <span><Kbd>A</Kbd> allow</span> <span><Kbd>O</Kbd> one by one</span>
        </p>
        {failure && <FailureCard failure={failure} />}
      </div>
    </section>
  );
}
