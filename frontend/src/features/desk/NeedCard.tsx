import { CircleHelp, ClipboardCheck, Globe, PackagePlus, ShieldQuestion } from "lucide-react";
import type { MouseEvent } from "react";
import { useEffect, useId, useLayoutEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Answer, Failure, Question } from "../../api/types";
import type { Need } from "../../model/desk";
import { answersOf, projectOf, short, stepsOf } from "../../model/desk";
import { elapsed } from "../../model/format";
import { sight, timeLeft } from "../../model/gate";
import type { Draft } from "../../model/questions";
import { answerOf, complete, emptyDraft, toggle, write } from "../../model/questions";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { openDialog } from "../../session/actions";
import { answer } from "../../session/branches";
import { cardActions } from "../../session/gate";
import { forget, keep, kept } from "../../session/questiondrafts";
import { ApprovalFacts } from "../../ui/approval/ApprovalFacts";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { keys, MOD } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { useNow } from "../../ui/useNow";

/** What the keys of the desk do to a card. */
export type NeedHandle = { number(n: number): void; give(): void };

type Props = {
  need: Need; nth: number; of: number; framed: boolean; line: boolean; off: boolean;
  clicked(e: MouseEvent, f: () => void): void; onFrame(): void; onOpen(): void; handle(h: NeedHandle | null): void;
};

/** Something that waits for the person. line: it is told in one line. */
export function NeedCard(p: Props) {
  const { need } = p;
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const id = useId();
  const give = (f: () => Promise<void>) => {
    if (busy || p.off) return;
    setBusy(true);
    setFailure(null);
    f().catch((err: unknown) => setFailure(toFailure(err))).finally(() => setBusy(false));
  };
  const parts = { ...p, busy: busy || p.off, give, id };
  return (
    <article className={`desk-card desk-need ${p.framed ? "framed" : ""} ${p.line ? "desk-line" : ""}`} data-desk={need.id} tabIndex={p.framed ? 0 : -1} aria-labelledby={`${id}-title`} aria-current={p.framed || undefined} onFocus={p.onFrame}>
      <Head {...p} />
      {p.line ? <h3 id={`${id}-title`} className="ellipsis"><Title need={need} /></h3> : need.approval ? <Held key={sight(need.approval)} {...parts} /> : need.question ? <Asked {...parts} q={need.question} /> : need.image ? (
        <>
          <h3 id={`${id}-title`}><PackagePlus size={15} aria-hidden /> <Title need={need} /></h3>
          <p className="desk-text">Its run waits until you have decided on that.</p>
          <div className="desk-buttons">
            <Button onClick={() => openDialog("toolchain", need.channel)}>Look at it</Button>
            <span className="grow" />
            <button type="button" className="link" onClick={p.onOpen}>Open the channel</button>
          </div>
        </>
      ) : (
        <>
          <h3 id={`${id}-title`}><Globe size={15} aria-hidden /> <Title need={need} /></h3>
          <p className="desk-text">The agent waits until you give it back.</p>
          <div className="desk-buttons"><Button onClick={p.onOpen}>Open the channel</Button></div>
        </>
      )}
      {failure && <FailureCard failure={failure} />}
    </article>
  );
}

function Head({ need, nth, of }: Props) {
  const channels = useStore(frameStore, (f) => f.channels);
  const now = useNow(true);
  const channel = channels.find((c) => c.channel_id === need.channel);
  const project = projectOf(channels, need.channel);
  const left = need.approval ? timeLeft(need.approval, now) : "";
  const wait = left ? `denied in ${left}` : need.since > 0 ? `since ${elapsed(Math.max(0, now - need.since))}` : "";
  return (
    <p className="desk-where">
      <span className="ellipsis">{[project?.channel_id === channel?.channel_id ? "" : project?.name, channel?.name].flatMap((n) => (n ? [visible(n)] : [])).join(" › ")}</span>
      <span className="tnum desk-when">{of > 1 ? `${nth} of ${of}` : ""}{of > 1 && wait ? ", " : ""}{wait}</span>
    </p>
  );
}

function Title({ need }: { need: Need }) {
  const q = need.question;
  if (need.approval) return <SafeText text={need.approval.title} />;
  if (need.image) return <>The project brings an image of its own</>;
  if (!q) return <>You drive its browser</>;
  if (q.kind === "exit_plan") return <>The agent has a plan</>;
  return <SafeText text={q.questions?.[0]?.question ?? "The agent has a question"} />;
}

type Parts = Props & { busy: boolean; id: string; give(f: () => Promise<void>): void };

/** A held call: the first number denies it, the others choose and the chord gives. */
function Held({ need, busy, give, id, clicked, onOpen, handle, framed }: Parts) {
  const a = need.approval;
  const [chosen, setChosen] = useState(0);
  const all = a ? answersOf(a) : [];
  const act = (i: number) => {
    const c = all[i]?.choice;
    if (a && c) give(() => cardActions(a).answer(c));
  };
  useHandle(handle, { number: (n) => (n === 1 ? act(0) : n <= all.length && setChosen(n - 1)), give: () => chosen > 0 && act(chosen) });
  if (!a) return null;
  return (
    <>
      <h3 id={`${id}-title`}><ShieldQuestion size={15} aria-hidden /> <Title need={need} /></h3>
      <ApprovalFacts a={a} id={`${id}-what`} />
      <div className="desk-buttons">
        {all.map((x, i) => (
          <Button key={x.name} disabled={busy} aria-pressed={framed && i > 0 ? i === chosen : undefined} onClick={(e) => clicked(e, () => act(i))}>{x.name} {framed && <Kbd>{String(i + 1)}</Kbd>}</Button>
        ))}
        <span className="grow" />
        <button type="button" className="link" onClick={onOpen}>{all.length > 0 ? "Show it in its channel" : "Answer in its channel"}</button>
      </div>
      {framed && all.length > 0 && <p className="desk-hint" role="status">{chosen > 0 ? <>Chosen: {all[chosen]?.name}. <Kbd>{keys(MOD, "Enter")}</Kbd> gives it.</> : <><Kbd>1</Kbd> denies at once. The other numbers only choose; <Kbd>{keys(MOD, "Enter")}</Kbd> then allows.</>}</p>}
    </>
  );
}

function useHandle(handle: (h: NeedHandle | null) => void, h: NeedHandle) {
  useLayoutEffect(() => {
    handle(h);
    return () => handle(null);
  });
}

function Asked({ q, ...p }: Parts & { q: Question }) {
  const send = (a: Answer) => p.give(async () => {
    await answer(q.question_id, a);
    forget(q.question_id);
  });
  if (q.kind === "exit_plan") return <Plan {...p} q={q} send={send} />;
  if (short(q)) return <Short {...p} q={q} send={send} />;
  return <Long {...p} q={q} send={send} />;
}

type AskedParts = Parts & { q: Question; send(a: Answer): void };

function Plan({ q, busy, id, clicked, onOpen, handle, framed, send }: AskedParts) {
  const [chosen, setChosen] = useState(0);
  const { steps, of } = stepsOf(q.plan ?? "");
  const approve = () => send({ action: "approve" });
  const decline = () => send({ action: "cancel" });
  useHandle(handle, { number: (n) => (n === 1 ? decline() : n === 2 ? onOpen() : n === 3 && setChosen(3)), give: () => chosen === 3 && approve() });
  return (
    <>
      <h3 id={`${id}-title`}><ClipboardCheck size={15} aria-hidden /> A plan in {of} {of === 1 ? "step" : "steps"}</h3>
      <ol className="desk-steps selectable">{steps.map((s, i) => <li key={i}><SafeText text={s} /></li>)}</ol>
      <div className="desk-buttons">
        <Button disabled={busy} onClick={(e) => clicked(e, decline)}>Decline {framed && <Kbd>1</Kbd>}</Button>
        <Button disabled={busy} onClick={onOpen}>Request changes {framed && <Kbd>2</Kbd>}</Button>
        <Button disabled={busy} aria-pressed={framed ? chosen === 3 : undefined} onClick={(e) => clicked(e, approve)}>Approve plan {framed && <Kbd>3</Kbd>}</Button>
        <span className="grow" />
        <button type="button" className="link" onClick={onOpen}>Read the whole plan</button>
      </div>
      {framed && chosen === 3 && <p className="desk-hint" role="status">Chosen: Approve plan. <Kbd>{keys(MOD, "Enter")}</Kbd> gives it.</p>}
    </>
  );
}

/** One question with a few options. */
function Short({ q, busy, id, clicked, handle, framed, send }: AskedParts) {
  const [draft, setDraft] = useState<Draft>(() => kept(q.question_id) ?? emptyDraft(q));
  useEffect(() => keep(q.question_id, draft), [q.question_id, draft]);
  const one = q.questions?.[0];
  const options = one?.options ?? [];
  const many = one?.multiSelect === true;
  const pick = (i: number) => {
    const o = options[i];
    if (o) setDraft((d) => toggle(d, 0, o.label, many));
  };
  const ready = complete(q, draft) && !busy;
  const give = () => ready && send(answerOf(draft));
  useHandle(handle, { number: (n) => pick(n - 1), give });
  return (
    <>
      <h3 id={`${id}-title`}><CircleHelp size={15} aria-hidden /> <SafeText text={one?.question ?? ""} /></h3>
      <div role="group" aria-labelledby={`${id}-title`}>
        {options.map((o, i) => (
          <label key={o.label} className="desk-option">
            <input type={many ? "checkbox" : "radio"} name={id} checked={draft.choices[0]?.includes(o.label) ?? false} onChange={() => pick(i)} />
            <strong><SafeText text={o.label} /></strong>
            {o.description && <span className="desk-text"><SafeText text={o.description} /></span>}
            {framed && <Kbd>{String(i + 1)}</Kbd>}
          </label>
        ))}
      </div>
      <div className="desk-buttons">
        <input className="field grow" aria-label="Or in your own words" placeholder="Or in your own words" value={draft.texts[0] ?? ""} onChange={(e) => setDraft(write(draft, 0, e.target.value))} />
        <Button disabled={busy} onClick={(e) => clicked(e, () => send({ action: "cancel" }))}>Decline</Button>
        <Button disabled={!ready} onClick={(e) => clicked(e, give)}>Send answer {framed && <Kbd>{keys(MOD, "Enter")}</Kbd>}</Button>
      </div>
    </>
  );
}

/** Questions that need more room than a card has. */
function Long({ q, busy, id, clicked, onOpen, handle, send }: AskedParts) {
  useHandle(handle, { number: () => {}, give: () => {} });
  return (
    <>
      <h3 id={`${id}-title`}><CircleHelp size={15} aria-hidden /> {q.questions?.length ?? 0} questions</h3>
      <ul className="desk-steps">{(q.questions ?? []).slice(0, 4).map((x, i) => <li key={i}><SafeText text={x.question} /></li>)}</ul>
      <div className="desk-buttons">
        <Button disabled={busy} onClick={(e) => clicked(e, () => send({ action: "cancel" }))}>Decline</Button>
        <Button onClick={onOpen}>Answer in its channel</Button>
      </div>
    </>
  );
}
