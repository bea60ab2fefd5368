import { useState } from "react";
import type { Answer, Failure, Question } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { visible } from "../../../model/text";
import { Markdown } from "../Markdown";

/** The state of an answer, and the function that gives it. failure: why the last try failed. */
export type Answering = { busy: boolean; failure: Failure | null; give(a: Answer): void };

const HELD = "Your folders were read-only for this run. Approving starts one that can write to them.";
const LOOSE = "The agent chose to plan, in a run that can write to your folders. Look at what it changed.";

/** A plan with three buttons of equal weight. None has the focus, so no key presses one by accident. */
export function PlanCard({ q, answering }: { q: Question; answering: Answering }) {
  const [revising, setRevising] = useState(false);
  const [text, setText] = useState("");
  return (
    <>
      <div className="question-body prose selectable" tabIndex={0} role="group" aria-label="Plan">
        <Markdown text={q.plan ?? ""} live={false} />
        {q.planFilePath && <p className="hint mono">{visible(q.planFilePath)}</p>}
      </div>
      {revising && (
        <label className="ask-other">
          <span className="label">What should change?</span>
          <textarea className="field" rows={3} autoFocus value={text} onChange={(e) => setText(e.target.value)} />
        </label>
      )}
      <div className="question-foot">
        <span className="hint grow">{q.read_only ? HELD : LOOSE}</span>
        {revising ? (
          <>
            <Button onClick={() => setRevising(false)}>Back</Button>
            <Button disabled={answering.busy || !text.trim()} onClick={() => answering.give({ action: "revise", text: text.trim() })}>Send changes</Button>
          </>
        ) : (
          <>
            <Button disabled={answering.busy} onClick={() => answering.give({ action: "cancel" })}>Set aside</Button>
            <Button disabled={answering.busy} onClick={() => setRevising(true)}>Request changes</Button>
            <Button disabled={answering.busy} onClick={() => answering.give({ action: "approve" })}>Approve plan</Button>
          </>
        )}
      </div>
    </>
  );
}
