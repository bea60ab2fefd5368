import { Check } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ReviewHunk } from "../../api/types";
import { wordMarks } from "../../model/change";
import { languageOf } from "../../model/file-tree";
import type { Comment } from "../../model/review";
import { linesOf, rangeOf } from "../../model/review";
import { Button, KeyOf } from "../../ui/Button";
import { SafeLine } from "../../ui/SafeText";
import { useColours } from "../../ui/useColours";
import type { CommentActs, HunkActs, Writing } from "./acts";
import { HunkLines } from "./HunkLines";

const MOST = 400; // lines of a hunk that are shown at first

type Props = {
  hunk: ReviewHunk; path: string; here: boolean; line: number; split: boolean; editable: boolean; whole: boolean; busy: boolean; guarded: boolean;
  acts: HunkActs; writing: Writing; comments: readonly Comment[]; notes: CommentActs; onEnter(): void;
};

/** A hunk with what can be done about it. An accepted one is folded. */
export function HunkView({ hunk: h, path, here, line, split, editable, whole, busy, guarded, acts, writing, comments, notes, onEnter }: Props) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const el = useRef<HTMLElement>(null);
  const lines = useMemo(() => linesOf(h), [h]);
  const shown = all ? lines : lines.slice(0, Math.max(MOST, here ? line + 20 : 0));
  const rich = lines.length <= 2000;
  const marks = useMemo(() => wordMarks(rich ? lines : []), [lines, rich]);
  const tokens = useColours(lines, rich ? languageOf(path) : "");
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
      {!folded && lines.length > 0 && (
        <HunkLines lines={shown} tokens={tokens} marks={marks} split={split} here={here ? line : -1} name={`Changes of ${range || path}`}
          writing={writing?.hunk === h.id ? writing.line : -1} comments={comments} notes={notes} onComment={(i) => notes.begin(h.id, i)} />
      )}
      {!folded && shown.length < lines.length && <p className="review-more"><button type="button" className="link" onClick={() => setAll(true)}>Show all {lines.length.toLocaleString("en")} lines</button></p>}
    </section>
  );
}
