import { Film, Pause, Square, SquareTerminal, Users } from "lucide-react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { elapsed, plural } from "../../model/format";
import { frameStore, outboxStore, timelineOf, timelinesStore } from "../../model/stores";
import { visible } from "../../model/text";
import { activeRun, since } from "../../model/timeline/state";
import { Button, IconButton } from "../../ui/Button";
import { Spinner } from "../../ui/Mark";
import { useNow } from "../../ui/useNow";
import { stopRun } from "../../session/actions";
import { playBack } from "../../session/playback";
import { useWaits } from "./prompt/useWaits";
import { Starting } from "./rows/StartRow";

/** The last row: the run's present activity, or the prompt that is about to begin. */
export function Tail({ channelId }: { channelId: ChannelID }) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const letter = useStore(outboxStore, (o) => o.letters.find((l) => l.channelId === channelId && l.state === "sending"));
  const { wait, parked } = useWaits(channelId);
  const runningSince = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.running_since);
  const run = activeRun(t);
  const held = useStore(frameStore, (f) => f.approvals.filter((a) => a.run_id !== undefined && a.run_id === run?.runId).length);
  const now = useNow(Boolean(run));
  if (!run) {
    const first = t.queue[wait.findIndex((w) => w.reason === "")];
    const next = first?.prompt ?? (parked || t.queue.length > 0 ? undefined : letter?.prompt);
    if (next === undefined) return <div className="tail-space" />;
    return (
      <div className="column">
        <div className="item prompt"><div className="main"><div className="bubble"><p>{next}</p></div></div></div>
        <Starting word={first ? "Starting" : "Sending"} />
      </div>
    );
  }
  const last = t.built.items.at(-1);
  if (last?.kind === "start" && !last.readyAt) return <div className="tail-space" />;
  if (run.retry && run.tasks.length === 0) return <div className="tail-space" />; // its row ticks
  const waiting = run.waiting && run.tasks.length > 0;
  const word = waiting ? `Waiting for ${plural(run.tasks.length, "background task")}` : run.activity || "Working";
  return (
    <article className="column" aria-live="off" aria-label="Under way">
      <div className="item now">
        <div className="main">
          {held > 0 ? <Pause size={13} aria-hidden className="held" /> : <Spinner size={13} />}
          <span className={`ellipsis ${held > 0 ? "held" : ""}`}>{held > 0 ? `Waiting for you: ${plural(held, "held call")}` : visible(word)}</span>
          {waiting && (
            <Button look="small" onClick={() => void stopRun(channelId)} title="Ends the run and what it has in the background">
              <Square size={11} aria-hidden />
              End now
            </Button>
          )}
          <IconButton name="Play back what was done so far" onClick={() => playBack(channelId, run.runId)}><Film size={13} /></IconButton>
        </div>
        <span className="gutter tnum">{elapsed(now - since(run, runningSince))}</span>
      </div>
      {run.tasks.length > 0 && (
        <ul className="background-tasks" aria-label="In the background">
          {run.tasks.map((task) => (
            <li key={task.id} className="item">
              <div className="main">
                {task.kind === "command" ? <SquareTerminal size={13} aria-hidden /> : <Users size={13} aria-hidden />}
                <span className={`ellipsis ${task.kind === "command" ? "mono" : ""}`} title={visible(task.what)}>{visible(task.what)}</span>
              </div>
              <span className="gutter tnum">{elapsed(now - task.since)}</span>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}
