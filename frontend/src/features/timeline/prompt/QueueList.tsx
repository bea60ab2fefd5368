import { RotateCw, TriangleAlert, Pencil } from "lucide-react";
import type { DragEvent } from "react";
import { useState } from "react";
import { useStore } from "zustand";
import { OFFLINE } from "../../../api/failure";
import type { ChannelID, Wait } from "../../../api/types";
import type { Letter } from "../../../model/outbox";
import { outboxStore, timelineOf, timelinesStore } from "../../../model/stores";
import { activeRun } from "../../../model/timeline/state";
import { oneLine } from "../../../model/text";
import { Button, IconButton } from "../../../ui/Button";
import { Spinner } from "../../../ui/Mark";
import { reorder } from "../../../session/queue";
import { session } from "../../../session/session";
import { QueueRow } from "./QueueRow";
import { useWaits } from "./useWaits";

/** The waiting prompts: those in Loop's queue, and those on their way to Loop. */
export function QueueList({ channelId, onEdit }: { channelId: ChannelID; onEdit(letter: Letter): void }) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const letters = useStore(outboxStore, (o) => o.letters);
  const { wait, now, parked } = useWaits(channelId);
  const [dragged, setDragged] = useState("");
  const mine = letters.filter((l) => l.channelId === channelId);
  const active = activeRun(t);
  const idle = !active && !parked;
  // The timeline already shows the prompt that is about to begin.
  const about = wait.findIndex((w) => w.reason === "");
  const queue = t.queue.map((run, i) => ({ run, why: wait[i] as Wait })).filter((_, i) => i !== about);
  const sending = mine.filter((l) => l.state === "sending").slice(idle && t.queue.length === 0 ? 1 : 0);
  const failed = mine.filter((l) => l.state === "failed");
  if (queue.length + sending.length + failed.length === 0) return null;

  /** Sends the whole order to Loop, which refuses it if the queue has changed meanwhile. */
  const move = (from: number, to: number) => {
    if (from === to || to < 0 || to >= queue.length) return;
    const ids = queue.map((x) => x.run.run_id);
    const [id] = ids.splice(from, 1);
    if (!id) return;
    ids.splice(to, 0, id);
    const begins = t.queue[about];
    if (begins) ids.splice(about, 0, begins.run_id);
    void reorder(channelId, ids);
  };

  return (
    <ul className="queue" aria-label="Waiting prompts">
      {active?.waiting && active.tasks.length > 0 && wait.some((w) => w.reason === "run") && (
        <li className="queue-note">The next prompt waits for what still runs in the background. Stop ends that.</li>
      )}
      {queue.map(({ run: r, why }, i) => (
        <QueueRow key={r.run_id} run={r} why={why} now={now} place={i} of={queue.length} onMove={(to) => move(i, to)} drag={{
          draggable: true,
          onDragStart: (e: DragEvent) => {
            setDragged(r.run_id);
            e.dataTransfer.effectAllowed = "move";
            e.dataTransfer.setData("text/plain", oneLine(r.prompt));
          },
          onDragEnd: () => setDragged(""),
          onDragOver: (e: DragEvent) => dragged && e.preventDefault(),
          onDrop: (e: DragEvent) => {
            e.preventDefault();
            const from = queue.findIndex((x) => x.run.run_id === dragged);
            if (from >= 0) move(from, i);
          },
        }} />
      ))}
      {sending.map((l) => (
        <li key={l.clientId}>
          <Spinner size={12} />
          <span className="queue-word">sending</span>
          <span className="queue-text ellipsis">{oneLine(l.prompt)}</span>
        </li>
      ))}
      {failed.map((l) => (
        <Failed key={l.clientId} letter={l} onEdit={onEdit} />
      ))}
    </ul>
  );
}

function Failed({ letter: l, onEdit }: { letter: Letter; onEdit(letter: Letter): void }) {
  return (
    <li className="bad">
      <TriangleAlert size={13} aria-hidden />
      <span className="queue-word">{l.failure?.code === OFFLINE ? "waiting to send" : "not sent"}</span>
      <span className="queue-text ellipsis" title={`${l.failure?.cause ?? ""}\n${l.failure?.remedy ?? ""}`}>
        {l.failure?.code !== OFFLINE && <strong>{l.failure?.cause} </strong>}
        {oneLine(l.prompt)}
      </span>
      <Button look="small" onClick={() => void session().deliverLetter(l)}>
        <RotateCw size={12} aria-hidden /> Send again
      </Button>
      <IconButton small name="Put it back into the prompt box" onClick={() => { session().dropLetter(l.clientId); onEdit(l); }}>
        <Pencil size={13} />
      </IconButton>
    </li>
  );
}
