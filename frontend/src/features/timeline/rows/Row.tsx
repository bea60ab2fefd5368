import { GitFork } from "lucide-react";
import { memo } from "react";
import { agentWorks } from "../../../model/timeline/agents";
import type { Item, RunInfo, ToolItem } from "../../../model/timeline/items";
import { duration, elapsed, quietDuration } from "../../../model/format";
import { IconButton } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import { useNow } from "../../../ui/useNow";
import { forkFrom } from "../../../session/branches";
import { when } from "../../../model/clock";
import { isTalk } from "../../../model/timeline/talks";
import { isBrowserTool } from "../../../model/timeline/browsertools";
import { Markdown } from "../Markdown";
import { BrowserRow } from "./BrowserRow";
import { CutOff } from "./CutOff";
import { DecidedRow } from "./DecidedRow";
import { EndRow } from "./EndRow";
import { GateRow } from "./GateRow";
import { Gutter } from "./Gutter";
import { ActivityRow, NoticeRow, RawRow } from "./PlainRows";
import { PromptRow } from "./PromptRow";
import { ReadsRow } from "./ReadsRow";
import { RetryGutter, RetryRow } from "./RetryRow";
import { AttemptRow, QuestionRow, TodosRow } from "./RunRows";
import { RewoundRow } from "./RewoundRow";
import { StartRow } from "./StartRow";
import { TalkRow } from "./TalkRow";
import { ThinkingRow } from "./ThinkingRow";
import { ToolRow } from "./ToolRow";

type Props = { item: Item; dir: string; open: boolean; onToggle(key: string): void; run: RunInfo | undefined };

/** One item of the timeline, with its time or duration in the gutter. */
export const Row = memo(function Row({ item, dir, open, onToggle, run }: Props) {
  switch (item.kind) {
    case "prompt":
      return (
        <>
          <PromptRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text={when(item.at)} />
        </>
      );
    case "text":
      return (
        <>
          <div className="main prose selectable">
            {item.author && <p className="author"><SafeText text={item.author} /></p>}
            <Markdown text={item.text} live={item.live} />
            {item.cut && <CutOff />}
            {item.uuid && !isTalk(item.runId) && <ForkHere uuid={item.uuid} />}
          </div>
          <Gutter at={item.at} text={item.took >= 950 ? duration(item.took) : ""} took={item.took} />
        </>
      );
    case "thinking":
      return (
        <>
          <ThinkingRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text={item.took >= 950 ? duration(item.took) : ""} took={item.took} />
        </>
      );
    case "tool":
      return (
        <>
          {isBrowserTool(item.name) ? <BrowserRow item={item} open={open} onToggle={onToggle} dir={dir} /> : <ToolRow item={item} open={open} onToggle={onToggle} dir={dir} />}
          {item.agent ? <AgentGutter item={item} /> : <Gutter at={item.at} text={item.endedAt && item.name ? quietDuration(item.endedAt - item.at) : ""} took={item.endedAt - item.at} />}
        </>
      );
    case "reads": {
      const took = Math.max(0, ...item.items.map((t) => t.endedAt)) - item.at;
      return (
        <>
          <ReadsRow item={item} open={open} onToggle={onToggle} dir={dir} />
          <Gutter at={item.at} text={quietDuration(Math.max(0, took))} took={took} />
        </>
      );
    }
    case "notice":
      return (
        <>
          <NoticeRow item={item} />
          <Gutter at={item.at} text={item.until ? duration(item.until - item.at) : ""} />
        </>
      );
    case "activity":
      return (
        <>
          <ActivityRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text="" />
        </>
      );
    case "start":
      return (
        <>
          <StartRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text={item.readyAt ? quietDuration(item.readyAt - item.at) : ""} took={item.readyAt - item.at} />
        </>
      );
    case "end":
      return <EndRow item={item} run={run} dir={dir} model={run?.model ?? ""} open={open} onToggle={onToggle} />;
    case "attempt":
      return (
        <>
          <AttemptRow item={item} />
          <Gutter at={item.at} text="" />
        </>
      );
    case "retry":
      return (
        <>
          <RetryRow item={item} />
          <RetryGutter item={item} />
        </>
      );
    case "question":
      return (
        <>
          <QuestionRow item={item} />
          <Gutter at={item.at} text="" />
        </>
      );
    case "gate":
      return (
        <>
          <GateRow item={item} open={open} onToggle={onToggle} />
          {item.approval.state !== "waiting" && <Gutter at={item.at} text="" />}
        </>
      );
    case "decided":
      return (
        <>
          <DecidedRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text="" />
        </>
      );
    case "todos":
      return (
        <>
          <TodosRow item={item} />
          <Gutter at={item.at} text="" />
        </>
      );
    case "rewound":
      return (
        <>
          <RewoundRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text={when(item.at)} />
        </>
      );
    case "talk":
      return (
        <>
          <TalkRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text={when(item.at)} />
        </>
      );
    case "raw":
      return (
        <>
          <RawRow item={item} open={open} onToggle={onToggle} />
          <Gutter at={item.at} text="" />
        </>
      );
  }
});

/** The fork button, for the mouse only. The key “f” on the item does the same. */
function ForkHere({ uuid }: { uuid: string }) {
  return (
    <IconButton small className="fork-here" tabIndex={-1} name="New thread that goes on from here" action="timeline.fork" onClick={() => void forkFrom(uuid)}>
      <GitFork size={13} />
    </IconButton>
  );
}

/** How long a sub-agent works, or worked. */
function AgentGutter({ item }: { item: ToolItem }) {
  const busy = agentWorks(item);
  const now = useNow(busy);
  const a = item.agent;
  const took = busy ? now - item.at : a?.ms || (a?.endedAt ? a.endedAt - item.at : 0);
  return <Gutter at={item.at} text={busy ? elapsed(took) : quietDuration(took)} took={took} />;
}
