import { ArrowDown, ArrowUp, CircleHelp, Clock3, CornerLeftUp, Hourglass, Pencil, X, Zap } from "lucide-react";
import type { HTMLAttributes, KeyboardEvent } from "react";
import { useEffect, useRef, useState } from "react";
import type { Run, Wait } from "../../../api/types";
import { ownWords } from "../../../model/models";
import { countOf } from "../../../model/pictures";
import { oneLine } from "../../../model/text";
import { waitWords } from "../../../model/waits";
import { Button, IconButton, Kbd } from "../../../ui/Button";
import { composing, keys, mod, MOD, pressed } from "../../../ui/keys";
import { SafeText } from "../../../ui/SafeText";
import { promptAfter } from "../../../session/actions";
import { focusQuestion } from "../../../session/branches";
import { hold, keepEdit, keepHeld, release, removeQueued, saveEdit, steer } from "../../../session/queue";
import { texts } from "../../../session/questiondrafts";

type Props = { run: Run; why: Wait; now: number; place: number; of: number; onMove(to: number): void; drag: HTMLAttributes<HTMLLIElement> };

export function QueueRow({ run, why, now, place, of, onMove, drag }: Props) {
  const [editing, setEditing] = useState(false);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => void (here.current = false);
  }, []);
  const edit = async () => {
    if (!(await hold(run.run_id))) return;
    if (here.current) setEditing(true);
    else void release(run.run_id);
  };
  if (editing) return <Editor run={run} onDone={() => setEditing(false)} />;
  const asked = why.question_id !== undefined;
  const Icon = asked ? CircleHelp : why.until ? Hourglass : Clock3;
  const onKey = (e: KeyboardEvent) => {
    const by = { "queue.earlier": -1, "queue.later": 1 }[pressed("queue", e)];
    if (!by) return;
    e.preventDefault();
    e.stopPropagation();
    onMove(place + by);
  };
  return (
    <li onKeyDown={onKey} {...drag}>
      <Icon size={13} color={asked ? "var(--need)" : undefined} aria-hidden />
      <span className="queue-word tnum">{waitWords(why, now)}</span>
      <span className="queue-text ellipsis" title={run.prompt}>
        {run.plan && <span className="queue-word">plans first: </span>}
        {run.session?.mode === "fresh" && <span className="queue-word">new conversation: </span>}
        {(run.model || run.effort) && <span className="queue-word">with <SafeText text={ownWords(run.model, run.effort)} />: </span>}
        {run.trigger === "agent" && <span className="queue-word">from an agent: </span>}
        {run.trigger === "continue" && <span className="queue-word">goes on by itself: </span>}
        {run.attachments && run.attachments.length > 0 && <span className="queue-word">with {countOf(run.attachments)}: </span>}
        <SafeText text={oneLine(run.prompt)} />
      </span>
      {asked ? (
        <IconButton small name={why.reason === "plan" ? "Go to the plan" : "Go to the question"} onClick={focusQuestion}>
          <CornerLeftUp size={13} />
        </IconButton>
      ) : why.reason !== "limit" && (
        <IconButton small name="Send now: stop the run under way and begin with this one" onClick={() => void steer(run.run_id)}>
          <Zap size={13} />
        </IconButton>
      )}
      {of > 1 && (
        <>
          <IconButton small name="Earlier" action="queue.earlier" disabled={place === 0} onClick={() => onMove(place - 1)}>
            <ArrowUp size={13} />
          </IconButton>
          <IconButton small name="Later" action="queue.later" disabled={place === of - 1} onClick={() => onMove(place + 1)}>
            <ArrowDown size={13} />
          </IconButton>
        </>
      )}
      <IconButton small name="Edit" onClick={() => void edit()}>
        <Pencil size={13} />
      </IconButton>
      <IconButton small name="Remove from the queue" onClick={() => void removeQueued(run.run_id)}>
        <X size={14} />
      </IconButton>
    </li>
  );
}

/** The editor of a waiting prompt. Meanwhile this prompt and all behind it wait. */
export function Editor({ run, onDone }: { run: Run; onDone(): void }) {
  const [text, setText] = useState(() => texts.get(run.run_id) ?? run.prompt);
  const [busy, setBusy] = useState(false);
  const saved = useRef(false);
  useEffect(() => {
    const end = keepHeld(run.run_id);
    return () => {
      end(saved.current);
      keepEdit(run);
    };
  }, [run.run_id]); // eslint-disable-line react-hooks/exhaustive-deps -- only its own end ends the hold
  const done = (toPrompt: () => void) => {
    texts.delete(run.run_id);
    onDone();
    toPrompt();
  };
  const save = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    const toPrompt = promptAfter(run.channel_id);
    saved.current = await saveEdit(run, text.trim());
    if (saved.current) done(toPrompt);
    setBusy(false);
  };
  const leave = () => done(promptAfter(run.channel_id));
  const change = (t: string) => {
    setText(t);
    texts.set(run.run_id, t); // another channel or tab takes the editor away, not its text
  };
  const onKey = (e: KeyboardEvent) => {
    if (composing(e)) return;
    if (e.key === "Enter" && mod(e.nativeEvent)) {
      e.preventDefault();
      void save();
    } else if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      leave();
    }
  };
  return (
    <li className="queue-editor">
      <textarea className="field" rows={3} autoFocus aria-label="Edit the waiting prompt" value={text} onChange={(e) => change(e.target.value)} onKeyDown={onKey} />
      <div className="queue-editor-foot">
        <span className="hint">The queue waits while you edit.</span>
        <Button look="small" onClick={leave}>
          Leave as it was <Kbd>Esc</Kbd>
        </Button>
        <Button look="small" disabled={busy || !text.trim()} onClick={() => void save()}>
          Save <Kbd>{keys(MOD, "Enter")}</Kbd>
        </Button>
      </div>
    </li>
  );
}
