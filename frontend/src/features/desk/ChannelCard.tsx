import { GitBranch, MessageSquare, Play, Folder, ShieldAlert } from "lucide-react";
import { useMemo } from "react";
import { useStore } from "zustand";
import { when } from "../../model/clock";
import { projectOf } from "../../model/desk";
import type { ShownChannel } from "../../model/gate";
import { frameStore, timelineOf, timelinesStore } from "../../model/stores";
import { prose, visible } from "../../model/text";
import { outcomeOf } from "../../model/timeline/changedfiles";
import type { EndItem } from "../../model/timeline/items";
import { describeTool } from "../../model/timeline/tools";
import { duration } from "../../model/format";
import { amount } from "../../model/usage";
import { retryRun } from "../../session/actions";
import { reviewFromDesk } from "../../session/desk";
import { Button } from "../../ui/Button";
import { SafeLine } from "../../ui/SafeText";
import { StateWord } from "../../ui/StateWord";

const ICONS: Record<string, typeof Folder> = { thread: MessageSquare, worktree: GitBranch, demo: Play };
const TEXT_MAX = 220; // characters

type Props = { channel: ShownChannel; framed: boolean; line: boolean; off: boolean; onFrame(): void; onOpen(): void };

/** A channel that waits for nobody: how it ended, or what it does now. */
export function ChannelCard({ channel: c, framed, line, off, onFrame, onOpen }: Props) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, c.channel_id));
  const channels = useStore(frameStore, (f) => f.channels);
  const project = projectOf(channels, c.channel_id);
  const Icon = ICONS[c.kind] ?? Folder;
  const last = useMemo(() => t.built.items.findLast((it) => it.kind === "end" || it.kind === "tool" || (it.kind === "text" && it.text.trim() !== "")), [t]);
  const end = last?.kind === "end" ? last : undefined;
  const name = visible(c.name);
  return (
    <article className={`desk-card ${framed ? "framed" : ""} ${line ? "desk-line" : ""}`} data-desk={c.channel_id} tabIndex={framed ? 0 : -1} aria-label={`${name}, ${c.state.replace("_", " ")}`} aria-current={framed || undefined} onFocus={onFrame}>
      <p className="desk-where">
        <Icon size={14} aria-hidden />
        <span className="ellipsis">{project && project.channel_id !== c.channel_id && <span className="desk-project">{visible(project.name)} › </span>}<button type="button" className="desk-name" tabIndex={-1} onClick={onOpen}>{name}</button></span>
        <StateWord state={c.state} driven={c.driven === true} {...(c.running_since ? { since: c.running_since } : {})} queued={c.queued} />
        {end && <time className="tnum desk-when">{when(end.at)}</time>}
      </p>
      {!line && end && <Ended end={end} c={c} off={off} onOpen={onOpen} />}
      {!line && last?.kind === "tool" && <p className="desk-now mono ellipsis">{now(describeTool(last, c.dir))}</p>}
      {!line && last?.kind === "text" && <p className="desk-text desk-said">{prose(last.text.slice(-TEXT_MAX))}</p>}
    </article>
  );
}

const now = (v: { verb: string; object: string }) => <><strong>{v.verb}</strong> <SafeLine text={v.object.slice(0, TEXT_MAX)} /></>;

function Ended({ end, c, off, onOpen }: { end: EndItem; c: ShownChannel; off: boolean; onOpen(): void }) {
  const run = useStore(timelinesStore, (all) => timelineOf(all, c.channel_id).built.runs[end.runId]);
  const outcome = outcomeOf(run, end.status.state === "done");
  const said = end.failure?.cause || end.status.result || "";
  const ms = end.status.duration_ms || 0;
  const failed = end.status.state === "failed" || end.status.state === "interrupted";
  return (
    <>
      {said && <p className="desk-text desk-said">{prose(said.slice(0, TEXT_MAX))}</p>}
      {outcome && outcome.alarms.length > 0 && (
        <p className="desk-alarm" title="Files like these run or count outside of the project. Look at them before you accept them."><ShieldAlert size={13} aria-hidden /> Touched: <b>{outcome.alarms.join(", ")}</b></p>
      )}
      <p className="desk-facts tnum">
        {outcome && <span>{outcome.words} {outcome.added > 0 && <span className="plus">+{outcome.added}</span>} {outcome.removed > 0 && <span className="minus">−{outcome.removed}</span>}</span>}
        {ms > 0 && <span>{duration(ms)}</span>}
        {(end.status.cost_usd ?? 0) > 0 && <span>{amount(end.status.cost_usd ?? 0, end.status.cost_estimated)}</span>}
        <span className="grow" />
        {failed && <Button look="small" disabled={off} onClick={() => void retryRun(end.runId)}>Retry</Button>}
        {(outcome ? outcome.files.length > 0 : run?.commands) && <Button look="small" onClick={() => reviewFromDesk(c.channel_id)}>Review</Button>}
        <Button look="small" onClick={onOpen}>Open</Button>
      </p>
    </>
  );
}
