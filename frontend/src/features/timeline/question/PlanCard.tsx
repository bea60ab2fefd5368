import { useEffect, useRef, useState } from "react";
import type { Answer, Failure, Question } from "../../../api/types";
import { Button, Kbd } from "../../../ui/Button";
import { keys, mod, MOD } from "../../../ui/keys";
import { visible } from "../../../model/text";
import { focusQuestion } from "../../../session/branches";
import { Markdown } from "../Markdown";
import { numberOf } from "./numberkeys";
import { texts } from "../../../session/questiondrafts";

/** The state of an answer, and the function that gives it. failure: why the last try failed. */
export type Answering = { busy: boolean; failure: Failure | null; give(a: Answer): void };

const HELD = "This run could not write to your folders. Approving starts one that can.";
const LOOSE = "The agent chose to plan, in a run that can write to your folders. Look at what it changed.";

/** A plan with three buttons of equal weight. None has the focus, so no key presses one by accident. */
export function PlanCard({ q, answering }: { q: Question; answering: Answering }) {
  const [revising, setRevising] = useState(texts.has(q.question_id));
  const [asked, setAsked] = useState(false);
  const [text, setText] = useState(() => texts.get(q.question_id) ?? "");
  const change = (t: string) => {
    setText(t);
    if (t) texts.set(q.question_id, t);
    else texts.delete(q.question_id);
  };
  const revise = (on: boolean) => {
    setRevising(on);
    setAsked(on);
    if (!on) focusQuestion(); // not to a button, which the next key could press
  };
  // As on the desk: 1 and 2 act, 3 only chooses. The chord then approves, or sends the changes.
  const [chosen, setChosen] = useState(false);
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const card = foot.current?.closest<HTMLElement>("[data-region=question]");
    const press = (e: KeyboardEvent) => {
      if (answering.busy) return;
      const n = revising ? 0 : numberOf(e);
      const gives = e.key === "Enter" && mod(e) && (revising ? Boolean(text.trim()) : chosen);
      if (n === 1) answering.give({ action: "cancel" });
      else if (n === 2) revise(true);
      else if (n === 3) setChosen(true);
      else if (gives) answering.give(revising ? { action: "revise", text: text.trim() } : { action: "approve" });
      else return;
      e.preventDefault();
    };
    card?.addEventListener("keydown", press);
    return () => card?.removeEventListener("keydown", press);
  });
  return (
    <>
      <div className="question-body prose selectable" tabIndex={0} role="group" aria-label="Plan">
        <Markdown text={q.plan ?? ""} live={false} />
        {q.planFilePath && <p className="hint mono">{visible(q.planFilePath)}</p>}
      </div>
      {revising && (
        <label className="ask-other">
          <span className="label">What should change?</span>
          <textarea className="field" rows={3} autoFocus={asked} value={text} onChange={(e) => change(e.target.value)} />
        </label>
      )}
      <div className="question-foot" ref={foot}>
        <span className="hint grow" role="status">{revising && !text.trim() ? "Say what should change." : chosen && !revising ? <>Chosen: Approve plan. <Kbd>{keys(MOD, "Enter")}</Kbd> gives it.</> : q.read_only ? HELD : LOOSE}</span>
        {revising ? (
          <>
            <Button key="back" onClick={() => revise(false)}>Back</Button>
            <Button key="send" disabled={answering.busy || !text.trim()} onClick={() => answering.give({ action: "revise", text: text.trim() })}>Send changes</Button>
          </>
        ) : (
          <>
            <Button disabled={answering.busy} onClick={() => answering.give({ action: "cancel" })}>Decline <Kbd>1</Kbd></Button>
            <Button disabled={answering.busy} onClick={() => revise(true)}>Request changes <Kbd>2</Kbd></Button>
            <Button disabled={answering.busy} aria-pressed={chosen || undefined} onClick={() => answering.give({ action: "approve" })}>Approve plan <Kbd>3</Kbd></Button>
          </>
        )}
      </div>
    </>
  );
}
