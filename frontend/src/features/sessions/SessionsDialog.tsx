import { Check, GitFork, History, MessageSquarePlus, RotateCcw } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure, SessionInfo, SessionStart } from "../../api/types";
import { frameStore, viewStore } from "../../model/stores";
import { oneLine, visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { startWith } from "../../session/branches";
import { session } from "../../session/session";
import { exact, when } from "../../model/clock";
import "./sessions.css";

/** The conversations that the agent keeps in a channel, and the choice of one for the next message. */
export function SessionsDialog({ onClose }: { onClose(): void }) {
  const id = useStore(viewStore, (v) => v.dialogChannel);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === id));
  const [list, setList] = useState<SessionInfo[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    setFailure(null);
    session().api.channels.sessions(id).then((l) => setList(l ?? []), (err: unknown) => setFailure(toFailure(err)));
  }, [id]);
  useEffect(load, [load]);
  const start = (s: SessionStart) => {
    startWith(id, s).then(onClose, (err: unknown) => setFailure(toFailure(err)));
  };
  const next = channel?.next_session;
  return (
    <Modal title={`Conversations of “${visible(channel?.name ?? "")}”`} wide onClose={onClose} foot={
      <>
        <Button onClick={() => start({ mode: "fresh" })} disabled={next?.mode === "fresh"}>
          <MessageSquarePlus size={13} aria-hidden /> Begin a new one with the next message
        </Button>
        <span className="grow" />
        <Button onClick={onClose}>Close</Button>
      </>
    }>
      {failure && (
        <FailureCard failure={failure}>
          <Button look="small" onClick={load}>Load again</Button>
        </FailureCard>
      )}
      {!list && !failure && <div className="skeleton sessions-skeleton" aria-hidden="true" />}
      {list?.length === 0 && (
        <p className="hint">
          <History size={14} aria-hidden /> No conversation is kept here yet. It begins with the first prompt of this channel.
        </p>
      )}
      {list && list.length > 0 && (
        <ul className="sessions">
          {list.map((s) => (
            <Line key={s.session_id} s={s} next={next} onStart={start} />
          ))}
        </ul>
      )}
    </Modal>
  );
}

function Line({ s, next, onStart }: { s: SessionInfo; next: SessionStart | undefined; onStart(s: SessionStart): void }) {
  const at = Date.parse(s.updated_at);
  const chosen = next?.session_id === s.session_id ? next?.mode : "";
  const title = oneLine(s.title) || "Without a title";
  return (
    <li>
      <div className="sessions-text">
        <p className="ellipsis" title={visible(s.title)}>
          <SafeText text={title} />
        </p>
        <p className="hint">
          <span title={exact(at)}>{when(at)}</span> · {s.messages} {s.messages === 1 ? "message" : "messages"}
          {s.branch ? <> · <SafeText text={s.branch} /></> : null}
          {s.demo ? " · scripted model" : ""}
        </p>
      </div>
      {s.current && !next?.mode ? (
        <span className="state done">
          <Check size={13} aria-hidden /> current
        </span>
      ) : (
        chosen && <span className="state">{chosen === "fork" ? "copied next" : "next"}</span>
      )}
      {(!s.current || next?.mode) && (
        <Button look="small" aria-label={`Go on with: ${title}`} disabled={chosen === "resume"} onClick={() => onStart({ mode: "resume", session_id: s.session_id })}>
          <RotateCcw size={12} aria-hidden /> Go on with it
        </Button>
      )}
      <Button look="small" aria-label={`Copy: ${title}`} disabled={chosen === "fork"} onClick={() => onStart({ mode: "fork", session_id: s.session_id })}>
        <GitFork size={12} aria-hidden /> Copy it
      </Button>
    </li>
  );
}
