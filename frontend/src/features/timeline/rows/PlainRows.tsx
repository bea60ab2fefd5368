import { Braces, Brain, ChevronRight, CircleAlert, Goal, Hand, Hourglass, Info, MessageSquareText, SquareTerminal, TriangleAlert, Undo2, Users } from "lucide-react";
import { safeJSON } from "../../../api/failure";
import { oneLine } from "../../../model/text";
import type { ActivityItem, NoticeItem, RawItem } from "../../../model/timeline/items";
import { activityVerb } from "../../../model/timeline/activity";
import { drives } from "../../../model/timeline/items";
import { SafeText } from "../../../ui/SafeText";
import { noticeWords } from "../itemText";
import { Markdown } from "../Markdown";
import { Output } from "../Output";
import type { RowProps } from "./props";

export function NoticeRow({ item }: { item: NoticeItem }) {
  const Icon = item.driver === "person" ? Hand : item.driver ? Undo2 : item.level === "error" ? CircleAlert : item.level === "warning" ? TriangleAlert : Info;
  return (
    <div className={`main notice-line selectable ${item.level} ${drives(item) ? "yours" : ""}`}>
      <Icon size={14} aria-hidden />
      <span>
        {item.level !== "info" && <span className="sr-only">{item.level}: </span>}
        <SafeText text={noticeWords(item)} />
      </span>
    </div>
  );
}

const ICONS: Record<string, typeof Info> = {
  api_retry: Hourglass, rate_limit: Hourglass, task_prompt: MessageSquareText, task_error: TriangleAlert, task_started: Users, task_progress: Users,
  task_notification: Users, background_started: SquareTerminal, background_ended: SquareTerminal, user_text: MessageSquareText, memory_recall: Brain, active_goal: Goal,
};

export function ActivityRow({ item, open, onToggle }: RowProps<ActivityItem>) {
  const Icon = ICONS[item.name] ?? Info;
  const verb = activityVerb(item.name);
  if (item.name === "task_message" || item.name === "task_report") {
    return <div className="main prose selectable rail-words"><Markdown text={item.text} live={false} /></div>;
  }
  return (
    <div className="main">
      <button type="button" className="line quiet" tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Icon size={14} aria-hidden />
        <span className="verb">
          <SafeText text={verb} />
        </span>
        {!open && (
          <span className="object prose-object ellipsis">
            <SafeText text={oneLine(item.text)} />
          </span>
        )}
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && item.text && (
        <div className="body">
          <Output text={item.text} name={verb} />
        </div>
      )}
    </div>
  );
}

/** An event of a kind that this page does not know. It is shown as it came, never dropped. */
export function RawRow({ item, open, onToggle }: RowProps<RawItem>) {
  const text = safeJSON(item.data);
  return (
    <div className="main">
      <button type="button" className="line quiet" tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Braces size={14} aria-hidden />
        <span className="verb">{item.type === "agent.raw" ? "Other output" : "Event"}</span>
        <span className="object mono ellipsis">
          <SafeText text={item.type === "agent.raw" ? text.replace(/\s+/g, " ").slice(0, 160) : item.type} />
        </span>
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && (
        <div className="body">
          <Output text={text} name="Event as it came" />
        </div>
      )}
    </div>
  );
}
