import { Clock3, Pencil, RotateCw, TriangleAlert, X } from "lucide-react";
import { useStore } from "zustand";
import { OFFLINE } from "../../api/failure";
import type { ChannelID } from "../../api/types";
import { outboxStore, timelineOf, timelinesStore } from "../../model/stores";
import { activeRun } from "../../model/timeline/state";
import { oneLine } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import { Spinner } from "../../ui/Mark";
import { removeQueued } from "../frame/actions";
import { session } from "../frame/session";

/** Prompts that wait: queued by Loop, or on their way to it. */
export function QueueList({ channelId, onEdit }: { channelId: ChannelID; onEdit(text: string): void }) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const letters = useStore(outboxStore, (o) => o.letters);
  const mine = letters.filter((l) => l.channelId === channelId);
  const idle = !activeRun(t);
  // The prompt that is about to begin is shown in the timeline already.
  const queue = idle ? t.queue.slice(1) : t.queue;
  const sending = mine.filter((l) => l.state === "sending").slice(idle && t.queue.length === 0 ? 1 : 0);
  const failed = mine.filter((l) => l.state === "failed");
  if (queue.length + sending.length + failed.length === 0) return null;
  return (
    <ul className="queue" aria-label="Waiting prompts">
      {queue.map((r, i) => (
        <li key={r.run_id}>
          <Clock3 size={13} aria-hidden />
          <span className="queue-word">{i === 0 ? "next" : "queued"}</span>
          <span className="queue-text ellipsis" title={r.prompt}>
            <SafeText text={oneLine(r.prompt)} />
          </span>
          <IconButton small name="Edit: take it out of the queue and into the prompt box" onClick={() => void removeQueued(r.run_id).then(() => onEdit(r.prompt))}>
            <Pencil size={13} />
          </IconButton>
          <IconButton small name="Remove from the queue" onClick={() => void removeQueued(r.run_id)}>
            <X size={14} />
          </IconButton>
        </li>
      ))}
      {sending.map((l) => (
        <li key={l.clientId}>
          <Spinner size={12} />
          <span className="queue-word">sending</span>
          <span className="queue-text ellipsis">{oneLine(l.prompt)}</span>
        </li>
      ))}
      {failed.map((l) => (
        <li key={l.clientId} className="bad">
          <TriangleAlert size={13} aria-hidden />
          <span className="queue-word">{l.failure?.code === OFFLINE ? "waiting to send" : "not sent"}</span>
          <span className="queue-text ellipsis" title={`${l.failure?.cause ?? ""}\n${l.failure?.remedy ?? ""}`}>
            {l.failure?.code !== OFFLINE && <strong>{l.failure?.cause} </strong>}
            {oneLine(l.prompt)}
          </span>
          <Button look="small" onClick={() => void session().deliverLetter(l)}>
            <RotateCw size={12} aria-hidden /> Send again
          </Button>
          <IconButton small name="Put it back into the prompt box" onClick={() => { session().dropLetter(l.clientId); onEdit(l.prompt); }}>
            <Pencil size={13} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
