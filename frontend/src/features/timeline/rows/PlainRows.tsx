import { Braces, ChevronRight, CircleAlert, Hand, Hourglass, Info, MessageSquareText, SquareTerminal, TriangleAlert, Undo2, Users } from "lucide-react";
import { safeJSON } from "../../../api/failure";
import { oneLine } from "../../../model/text";
import type { ActivityItem, NoticeItem, RawItem } from "../../../model/timeline/items";
import { drives } from "../../../model/timeline/items";
import { SafeText } from "../../../ui/SafeText";
import { noticeWords } from "../itemText";
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

const ACTIVITY: Record<string, { verb: string; icon: typeof Info }> = {
  api_retry: { verb: "Waiting for the model", icon: Hourglass },
  rate_limit: { verb: "Rate limit", icon: Hourglass },
  task_prompt: { verb: "Subtask asked", icon: Users },
  task_message: { verb: "Subtask said", icon: Users },
  task_started: { verb: "Subtask started", icon: Users },
  task_progress: { verb: "Subtask", icon: Users },
  task_notification: { verb: "Subtask", icon: Users },
  background_started: { verb: "Goes on in the background", icon: SquareTerminal },
  background_ended: { verb: "In the background", icon: SquareTerminal },
  user_text: { verb: "Told the agent", icon: MessageSquareText },
};

export function ActivityRow({ item, open, onToggle }: RowProps<ActivityItem>) {
  const known = ACTIVITY[item.name];
  const Icon = known?.icon ?? Info;
  const verb = known?.verb ?? item.name.replaceAll("_", " ");
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
