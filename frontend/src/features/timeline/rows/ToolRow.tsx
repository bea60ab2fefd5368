import { Check, ChevronRight, Pause, CircleHelp, FilePen, FilePlus2, FileText, FolderSearch, Globe, Image, ListTodo, Plug, Search, SquareTerminal, Users, Wrench, X } from "lucide-react";
import { useStore } from "zustand";
import { frameStore } from "../../../model/stores";
import type { ToolItem } from "../../../model/timeline/items";
import type { Mark, ToolIcon } from "../../../model/timeline/tools";
import { describeTool, isChore } from "../../../model/timeline/tools";
import { KeyOf } from "../../../ui/Button";
import { Spinner } from "../../../ui/Mark";
import { SafeText } from "../../../ui/SafeText";
import { ToolBody } from "../ToolBody";
import type { RowProps } from "./props";

const ICONS: Partial<Record<ToolIcon, typeof Check>> = {
  run: SquareTerminal, read: FileText, image: Image, edit: FilePen, create: FilePlus2, search: Search, files: FolderSearch, web: Globe, task: Users,
  plan: ListTodo, mcp: Plug, tool: Wrench, ask: CircleHelp,
};

export function ToolRow({ item, open, onToggle, dir }: RowProps<ToolItem> & { dir: string }) {
  const v = describeTool(item, dir);
  const Icon = ICONS[v.icon] ?? Wrench;
  const held = useStore(frameStore, (f) => !item.result && item.useId !== "" && f.approvals.some((a) => a.tool_use_id === item.useId));
  return (
    <div className="main">
      <button type="button" className={`line ${isChore(item) ? "quiet" : ""} ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Icon size={14} aria-hidden />
        <span className="verb">{v.verb}</span>
        <span className={`object ellipsis ${isChore(item) || v.icon === "task" ? "prose-object" : "mono"}`}>
          {PATHS.has(v.icon) ? <Path path={v.object} /> : <SafeText text={v.object} />}
        </span>
        {v.note && (
          <span className="note ellipsis">
            <SafeText text={v.note} />
          </span>
        )}
        <span className="rail-keys" aria-hidden><KeyOf of="timeline.copy" /> copy</span>
        <span className="marks tnum">
          {v.added > 0 && <span className="plus">+{v.added}</span>}
          {v.removed > 0 && <span className="minus">−{v.removed}</span>}
          {held ? <span className="mark held"><Pause size={12} aria-hidden />waiting for you</span> : <ResultMark mark={v.mark} sums={v.icon === "task"} quiet={v.added + v.removed > 0 || (isChore(item) && item.result !== null)} />}
        </span>
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && !item.agent && <ToolBody item={item} dir={dir} />}
    </div>
  );
}

const PATHS = new Set<ToolIcon>(["read", "image", "edit", "create"]);

/** A path, of which a narrow timeline has the file first. */
function Path({ path }: { path: string }) {
  const cut = path.lastIndexOf("/");
  return (
    <>
      <span className="timeline-whole"><SafeText text={path} /></span>
      <span className="timeline-short"><SafeText text={path.slice(cut + 1)} /> {cut > 0 && <span className="timeline-folder"><SafeText text={path.slice(0, cut)} /></span>}</span>
    </>
  );
}

/** sums: the words are numbers that a narrow timeline leaves out. */
function ResultMark({ mark, quiet, sums }: { mark: Mark; quiet: boolean; sums: boolean }) {
  const words = sums ? <span className="timeline-whole">{mark.text}</span> : mark.text;
  switch (mark.tone) {
    case "busy":
      return (
        <span className="mark work">
          <Spinner size={12} />
          {words}
        </span>
      );
    case "fail":
      return (
        <span className="mark fail">
          <X size={13} aria-hidden />
          {mark.text}
        </span>
      );
    default:
      if (quiet && !mark.text) return null;
      return (
        <span className="mark">
          {words}
          {!quiet && <Check size={13} aria-label="succeeded" className="tick" />}
        </span>
      );
  }
}
