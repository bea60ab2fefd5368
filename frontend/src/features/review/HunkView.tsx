import { Check } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ReviewHunk } from "../../api/types";
import type { Comment } from "../../model/review";
import { countOf, rangeOf } from "../../model/review";
import { Button, KeyOf } from "../../ui/Button";
import { SafeLine } from "../../ui/SafeText";
import type { CommentActs, HunkActs, Writing } from "./acts";
import { HunkBody } from "./HunkBody";

export const MOST = 400; // lines of a hunk that are shown at first

/** What of the hunks of a file the person has unfolded, by their names. It outlives hunks that are out of sight. */
export type Unfolded = { open: Set<string>; all: Set<string> };

type Props = {
  hunk: ReviewHunk; path: string; here: boolean; line: number; split: boolean; unfolded: Unfolded; editable: boolean; whole: boolean; busy: boolean; guarded: boolean;
  acts: HunkActs; writing: Writing; comments: readonly Comment[]; notes: CommentActs; onEnter(): void;
};

/** A hunk with what can be done about it. An accepted one is folded. */
export function HunkView({ hunk: h, path, here, line, split, unfolded, editable, whole, busy, guarded, acts, writing, comments, notes, onEnter }: Props) {
  const [open, setOpen] = useState(unfolded.open.has(h.id));
  const [all, setAll] = useState(unfolded.all.has(h.id));
  const unfold = (on: boolean) => {
    unfolded.open[on ? "add" : "delete"](h.id);
    setOpen(on);
  };
  const showAll = () => {
    unfolded.all.add(h.id);
    setAll(true);
  };
  const el = useRef<HTMLElement>(null);
  const count = useMemo(() => countOf(h), [h]);
  const most = all ? count : Math.min(count, Math.max(MOST, here ? line + 20 : 0));
  useEffect(() => {
    if (here) el.current?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const range = rangeOf(h);
  const folded = h.staged && !open;
  return (
    <section ref={el} className={`review-hunk ${here ? "here" : ""}`} aria-label={`Hunk ${range || h.section}${h.staged ? ", accepted" : ""}`} aria-current={here} onClickCapture={onEnter}>
      <div className="review-bar">
        {range && <span className="review-range tnum mono">{range}</span>}
        <span className="review-section mono ellipsis"><SafeLine text={h.section} /></span>
        <span className="grow" />
        {h.staged ? (
          <>
            <span className="review-accepted"><Check size={14} aria-hidden /> Accepted</span>
            {h.lines !== "" && <Button look="small quiet" aria-expanded={open} onClick={() => unfold(!open)}>{open ? "Fold" : "Show"}</Button>}
            {editable && <Button look="small quiet" disabled={busy} onClick={() => acts.takeBack(h)}>Undo{here && <KeyOf of="review.accept" />}</Button>}
          </>
        ) : editable && !whole && (
          <>
            {!guarded && <Button look="small" disabled={busy} onClick={() => acts.reject(h)}>Reject{here && <KeyOf of="review.reject" />}</Button>}
            <Button look="small" disabled={busy} onClick={() => acts.accept(h)}>Accept{here && <KeyOf of="review.accept" />}</Button>
          </>
        )}
      </div>
      {!folded && count > 0 && (
        <HunkBody hunk={h} path={path} here={here} line={line} split={split} most={most} writing={writing} comments={comments} notes={notes} />
      )}
      {!folded && most < count && <p className="review-more"><button type="button" className="link" onClick={showAll}>Show all {count.toLocaleString("en")} lines</button></p>}
    </section>
  );
}
