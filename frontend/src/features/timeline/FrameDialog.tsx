import { ChevronLeft, ChevronRight } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { clock } from "../../model/clock";
import { driverWords, footageStore, frameWords, noFootage, shortAddress } from "../../model/footage";
import { timelineOf, timelinesStore } from "../../model/stores";
import { usePicture } from "../../session/footage";
import { IconButton } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { PageFrame } from "../../ui/PageFrame";
import { SafeText } from "../../ui/SafeText";
import { openFrame, openFrameStore } from "./openframe";

/** A picture of a run's pages, large. The arrow keys go to those before and after it. */
export function FrameDialog({ channelId }: { channelId: ChannelID }) {
  const { run, frame: id } = useStore(openFrameStore);
  const mine = useStore(timelinesStore, (all) => Boolean(timelineOf(all, channelId).built.runs[run]));
  const { frames } = useStore(footageStore, (all) => all[run] ?? noFootage);
  const at = frames.findIndex((f) => f.frame_id === id);
  const frame = frames[at];
  const { url, failure } = usePicture(frame);
  if (!frame || !mine) return null;
  const go = (to: number) => {
    const next = frames[Math.max(0, Math.min(frames.length - 1, to))];
    if (next) openFrame(run, next.frame_id);
  };
  function onKeyDown(e: KeyboardEvent) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: frames.length - 1 }[e.key];
    if (to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    go(to);
  }
  const words = frameWords(frame);
  const title = frame.title || shortAddress(frame.url ?? "") || "a page without a title";
  return (
    <Modal title="Picture of the page" className="timeline-frame" onClose={() => openFrame("", 0)}
      foot={
        <div className="timeline-frame-foot">
          <IconButton name="The one before" keys="←" disabled={at === 0} onClick={() => go(at - 1)}><ChevronLeft size={15} /></IconButton>
          <IconButton name="The next one" keys="→" disabled={at === frames.length - 1} onClick={() => go(at + 1)}><ChevronRight size={15} /></IconButton>
          <strong role="status"><SafeText text={words} /></strong>
          <span className="mono ellipsis"><SafeText text={shortAddress(frame.url ?? "")} /></span>
          <span className="muted tnum">{driverWords(frame)}, {clock(frame.time)}, {at + 1} of {frames.length}</span>
        </div>
      }>
      <div className="timeline-frame-stage" data-first tabIndex={0} role="group" aria-label="Picture, arrow keys step" onKeyDown={onKeyDown}>
        <PageFrame frame={frame} url={url} failure={failure} alt={`${title}, after: ${words}`} />
      </div>
    </Modal>
  );
}
