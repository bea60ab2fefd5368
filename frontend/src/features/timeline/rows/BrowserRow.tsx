import { AppWindow, Braces, Camera, Check, ChevronRight, Eye, Globe, Keyboard, MousePointerClick, Pause, ScrollText, TextCursorInput, Timer, X } from "lucide-react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { footageStore } from "../../../model/footage";
import { frameStore } from "../../../model/stores";
import type { BrowserIcon } from "../../../model/timeline/browsertools";
import type { ToolItem } from "../../../model/timeline/items";
import type { Mark } from "../../../model/timeline/tools";
import { describeTool } from "../../../model/timeline/tools";
import { usePicture, wantFootage } from "../../../session/footage";
import { Spinner } from "../../../ui/Mark";
import { PageThumb } from "../../../ui/PageFrame";
import { SafeText } from "../../../ui/SafeText";
import { openFrame } from "../openframe";
import { ToolBody } from "../ToolBody";
import type { RowProps } from "./props";
import "./browserrow.css";

const ICONS: Record<BrowserIcon, typeof Check> = {
  web: Globe, fill: TextCursorInput, click: MousePointerClick, type: Keyboard, look: Eye, picture: Camera, console: ScrollText, script: Braces, wait: Timer, tabs: AppWindow,
};

/** A call of one of the browser's tools: what it did, what came of it, and the page after it. */
export function BrowserRow({ item, open, onToggle, dir }: RowProps<ToolItem> & { dir: string }) {
  const frame = useStore(footageStore, (all) => all[item.runId]?.calls[item.useId]);
  const held = useStore(frameStore, (f) => !item.result && item.useId !== "" && f.approvals.some((a) => a.tool_use_id === item.useId));
  const { url, failure } = usePicture(frame);
  useEffect(() => wantFootage(item.runId), [item.runId]);
  const v = describeTool(item, dir, frame);
  const Icon = ICONS[v.icon as BrowserIcon];
  return (
    <div className="main timeline-browser">
      <div className="timeline-browser-row">
        <button type="button" className={`line ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
          <Icon size={14} aria-hidden />
          <span className="timeline-browser-words">
            <span className="timeline-browser-deed">
              <span className="verb">{v.verb}</span>
              <span className={`object ellipsis ${v.icon === "web" || v.icon === "script" ? "mono" : ""}`}>
                <SafeText text={v.object} />
              </span>
              {v.note && <span className="note ellipsis"><SafeText text={v.note} /></span>}
            </span>
            <Result mark={v.mark} held={held} />
          </span>
          <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
        </button>
        {frame ? (
          <button type="button" className="timeline-browser-thumb" tabIndex={-1} aria-label={failure ? `No picture: ${failure.cause}` : "Open the picture of the page"} title={failure?.cause ?? "Open the picture (Enter)"}
            onClick={() => openFrame(item.runId, frame.frame_id)}>
            <PageThumb frame={frame} url={url} failure={failure} />
          </button>
        ) : (
          <span className="timeline-browser-thumb"><PageThumb frame={undefined} url="" failure={null} /></span>
        )}
      </div>
      {open && <ToolBody item={item} dir={dir} />}
    </div>
  );
}

function Result({ mark, held }: { mark: Mark; held: boolean }) {
  if (held) return <span className="mark held"><Pause size={12} aria-hidden />waiting for you</span>;
  switch (mark.tone) {
    case "busy":
      return <span className="mark work"><Spinner size={12} />{mark.text}</span>;
    case "fail":
      return <span className="mark fail"><X size={12} aria-hidden /><span className="ellipsis"><SafeText text={mark.text} /></span></span>;
    default:
      return <span className="mark"><Check size={12} aria-label="succeeded" className="tick" />{mark.text && <span className="ellipsis"><SafeText text={mark.text} /></span>}</span>;
  }
}
