import { useState } from "react";
import type { Answer, Failure, Question } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { visible } from "../../../model/text";
import { focusQuestion } from "../../../session/branches";
import { Markdown } from "../Markdown";
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
      <div className="question-foot">
        <span className="hint grow">{q.read_only ? HELD : LOOSE}</span>
        {revising ? (
          <>
            <Button key="back" onClick={() => revise(false)}>Back</Button>
            <Button key="send" disabled={answering.busy || !text.trim()} onClick={() => answering.give({ action: "revise", text: text.trim() })}>Send changes</Button>
          </>
        ) : (
          <>
            <Button disabled={answering.busy} onClick={() => answering.give({ action: "cancel" })}>Decline</Button>
            <Button disabled={answering.busy} onClick={() => revise(true)}>Request changes</Button>
            <Button disabled={answering.busy} onClick={() => answering.give({ action: "approve" })}>Approve plan</Button>
          </>
        )}
      </div>
    </>
  );
}
