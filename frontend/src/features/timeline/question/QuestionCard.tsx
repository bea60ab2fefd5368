import { CircleHelp } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useId, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../../api/failure";
import type { Answer, AskQuestion, ChannelID, Failure, Question } from "../../../api/types";
import type { Draft } from "../../../model/questions";
import { answerOf, complete, emptyDraft, missingWords, numbered, questionOf, toggle, write } from "../../../model/questions";
import { frameStore } from "../../../model/stores";
import { Button, Kbd } from "../../../ui/Button";
import { FailureCard } from "../../../ui/FailureCard";
import { keys, mod, MOD } from "../../../ui/keys";
import { SafeText } from "../../../ui/SafeText";
import { promptAfter } from "../../../session/actions";
import { answer } from "../../../session/branches";
import { forget, kept, keep } from "../../../session/questiondrafts";
import { numberOf } from "./numberkeys";
import type { Answering } from "./PlanCard";
import { PlanCard } from "./PlanCard";
import "./question.css";

/** The card of the channel's open question. It never takes the focus by itself. */
export function QuestionCard({ channelId }: { channelId: ChannelID }) {
  const q = useStore(frameStore, (f) => questionOf(f.questions, channelId));
  const more = useStore(frameStore, (f) => f.questions.filter((x) => x.channel_id === channelId).length - 1);
  if (!q) return null;
  return <Card key={q.question_id} q={q} more={more} />;
}

function Card({ q, more }: { q: Question; more: number }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const give = (a: Answer) => {
    setBusy(true);
    setFailure(null);
    const toPrompt = promptAfter(q.channel_id ?? "");
    answer(q.question_id, a).then(
      () => {
        forget(q.question_id);
        toPrompt();
      },
      (err: unknown) => {
        setFailure(toFailure(err));
        setBusy(false);
      },
    );
  };
  const title = useId();
  const answering = { busy, failure, give };
  return (
    <section className="question-card" aria-labelledby={title} tabIndex={-1} data-region="question">
      <h3 id={title}>
        <CircleHelp size={15} aria-hidden />
        {q.kind === "exit_plan" ? "The agent has a plan" : (q.questions?.length ?? 0) > 1 ? "The agent has some questions" : "The agent has a question"}
        {more > 0 && <span className="state">+{more} more</span>}
      </h3>
      {q.kind === "exit_plan" ? <PlanCard q={q} answering={answering} /> : <Ask q={q} answering={answering} />}
      {failure && <FailureCard failure={failure} />}
    </section>
  );
}

function Ask({ q, answering }: { q: Question; answering: Answering }) {
  const [draft, setDraft] = useState<Draft>(() => kept(q.question_id) ?? emptyDraft(q));
  useEffect(() => keep(q.question_id, draft), [q.question_id, draft]);
  const ready = complete(q, draft) && !answering.busy;
  const send = () => ready && answering.give(answerOf(draft));
  // Enter alone never answers: it chooses an item or ends a line as anywhere else.
  const onKey = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !mod(e.nativeEvent)) return;
    e.preventDefault();
    send();
  };
  const [focused, setFocused] = useState(-1);
  const current = numbered(q, draft, focused);
  const box = useRef<HTMLDivElement>(null);
  // A number chooses. It works wherever the keyboard is in the card, but for a text.
  useEffect(() => {
    const card = box.current?.closest<HTMLElement>("[data-region=question]");
    const press = (e: globalThis.KeyboardEvent) => {
      const one = q.questions?.[current];
      const o = one?.options?.[numberOf(e) - 1];
      if (!one || !o) return;
      e.preventDefault();
      setDraft((d) => toggle(d, current, o.label, one.multiSelect === true));
    };
    card?.addEventListener("keydown", press);
    return () => card?.removeEventListener("keydown", press);
  }, [q, current]);
  return (
    <div onKeyDown={onKey} ref={box}>
      <div className="question-body" tabIndex={0} role="group" aria-label="Questions">
        {(q.questions ?? []).map((one, i) => (
          <One key={i} one={one} keys={i === current} onFocus={(on) => setFocused((f) => (on ? i : f === i ? -1 : f))} chosen={draft.choices[i] ?? []} text={draft.texts[i] ?? ""}
            onToggle={(label) => setDraft(toggle(draft, i, label, one.multiSelect === true))} onText={(t) => setDraft(write(draft, i, t))} />
        ))}
      </div>
      <div className="question-foot">
        <span className="hint grow" role="status">{missingWords(q, draft)}</span>
        <Button disabled={answering.busy} onClick={() => answering.give({ action: "cancel" })}>Decline</Button>
        <Button disabled={!ready} onClick={send}>
          {answering.busy ? "Sending" : "Send answer"} <Kbd>{keys(MOD, "Enter")}</Kbd>
        </Button>
      </div>
    </div>
  );
}

type OneProps = { one: AskQuestion; keys: boolean; chosen: string[]; text: string; onFocus(on: boolean): void; onToggle(label: string): void; onText(t: string): void };

/** keys: the number keys choose its options. */
function One({ one, keys: numbers, chosen, text, onFocus, onToggle, onText }: OneProps) {
  const name = useId();
  const preview = one.options?.find((o) => o.preview && chosen.includes(o.label))?.preview;
  return (
    <fieldset className="ask" onFocus={() => onFocus(true)} onBlur={() => onFocus(false)}>
      <legend>
        {one.header && (
          <span className="chip">
            <SafeText text={one.header} />
          </span>
        )}
        <SafeText text={one.question} />
        {one.multiSelect && <span className="hint"> Choose any number.</span>}
      </legend>
      {(one.options ?? []).map((o, i) => (
        <label key={o.label} className="ask-option">
          <input type={one.multiSelect ? "checkbox" : "radio"} name={name} checked={chosen.includes(o.label)} onChange={() => onToggle(o.label)} />
          <span>
            <strong>
              <SafeText text={o.label} />
            </strong>
            {o.description && (
              <span className="hint">
                {" "}
                <SafeText text={o.description} />
              </span>
            )}
          </span>
          {numbers && i < 9 && <Kbd>{String(i + 1)}</Kbd>}
        </label>
      ))}
      {preview && (
        <pre className="ask-preview selectable" tabIndex={0} aria-label="Preview">
          <SafeText text={preview} />
        </pre>
      )}
      <label className="ask-other">
        <span className="label">{(one.options?.length ?? 0) > 0 ? "Or in your own words" : "Your answer"}</span>
        <textarea className="field" rows={1} value={text} onChange={(e) => onText(e.target.value)} />
      </label>
    </fieldset>
  );
}
