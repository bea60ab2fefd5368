import { Check } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ReviewHunk } from "../../api/types";
import type { Comment } from "../../model/review";
import { commentsIn, countOf, rangeOf, rowsOf } from "../../model/review";
import { Button, KeyOf } from "../../ui/Button";
import { SafeLine } from "../../ui/SafeText";
import type { CommentActs, HunkActs, Writing } from "./acts";
import { HunkBody } from "./HunkBody";
import { Unseen } from "./Unseen";

const MOST = 400; // lines of a hunk that are shown at first

type Props = {
  hunk: ReviewHunk; path: string; here: boolean; line: number; split: boolean; first: boolean; editable: boolean; whole: boolean; busy: boolean; guarded: boolean;
  acts: HunkActs; writing: Writing; comments: readonly Comment[]; notes: CommentActs; onEnter(): void;
};

/** A hunk with what can be done about it. An accepted one is folded. Tab and screen readers find each, though its lines are made only once they are near. first: before that is known. */
export function HunkView({ hunk: h, path, here, line, split, first, editable, whole, busy, guarded, acts, writing, comments, notes, onEnter }: Props) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const showAll = () => {
    setAll(true);
    el.current?.querySelector<HTMLElement>(".review-lines")?.focus({ preventScroll: true }); // the button goes
  };
  const el = useRef<HTMLElement>(null);
  const count = useMemo(() => countOf(h), [h]);
  const most = all ? count : Math.min(count, Math.max(MOST, here ? line + 20 : 0));
  useEffect(() => {
    if (here) el.current?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const rows = useMemo(() => rowsOf(h, split), [h, split]);
  const mine = commentsIn(h, comments);
  const range = rangeOf(h);
  const folded = h.staged && !open;
  return (
    <section ref={el} className={`review-hunk ${here ? "here" : ""}`} aria-label={`Hunk ${range || h.section}${h.staged ? ", accepted" : ""}`} aria-current={here} onClickCapture={onEnter} onFocusCapture={(e) => e.target.matches(":focus-visible") && onEnter()}>
      <div className="review-bar">
        {range && <span className="review-range tnum mono">{range}</span>}
        <span className="review-section mono ellipsis"><SafeLine text={h.section} /></span>
        <span className="grow" />
        {h.staged ? (
          <>
            <span className="review-accepted"><Check size={14} aria-hidden /> Accepted</span>
            {h.lines !== "" && <Button look="small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "Fold" : "Show"}</Button>}
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
        <Unseen rows={Math.min(rows, most)} first={first} wanted={here || writing?.hunk === h.id || mine.length > 0}>
          {() => <HunkBody hunk={h} path={path} here={here} line={line} split={split} most={most} writing={writing} comments={mine} notes={notes} />}
        </Unseen>
      )}
      {!folded && most < count && <p className="review-more"><button type="button" className="link" onClick={showAll}>Show all {count.toLocaleString("en")} lines</button></p>}
    </section>
  );
}
