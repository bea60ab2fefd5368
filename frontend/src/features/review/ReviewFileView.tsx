import { ArrowLeft, CheckCheck, ExternalLink, SquarePen } from "lucide-react";
import { useRef } from "react";
import type { ReviewFile } from "../../api/types";
import { byteSize } from "../../model/byteSize";
import type { Comment } from "../../model/review";
import { isGuarded, nameOf, sinceSentence, wholeSentence } from "../../model/review";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeLine } from "../../ui/SafeText";
import type { CommentActs, HunkActs, Writing } from "./acts";
import { HunkView } from "./HunkView";
import { useInSight } from "./useInSight";
import type { FileState } from "./useReview";

const AT_ONCE = 8; // hunks around the chosen one whose lines are made before it is known which are in sight

type Props = {
  f: ReviewFile; state: FileState | null; hunk: number; line: number; split: boolean; editable: boolean; since: string; busy: boolean;
  acts: HunkActs; writing: Writing; comments: readonly Comment[]; notes: CommentActs;
  onHunk(i: number): void; onAcceptFile(): void; onOpen(): void; onEdit(): void; onBack(): void; onWorktree(): void; onAgain(): void;
};

/** One file's changes. */
export function ReviewFileView({ f, state, hunk, line, split, editable, since, busy, acts, writing, comments, notes, onHunk, onAcceptFile, onOpen, onEdit, onBack, onWorktree, onAgain }: Props) {
  const { name, dir } = nameOf(f.path);
  const d = state?.diff;
  const hunks = d?.hunks ?? [];
  const guarded = isGuarded(f.path);
  const whole = Boolean(d?.whole && d.whole !== "binary");
  const content = useRef<HTMLDivElement>(null);
  useInSight(content, hunk, line);
  const words = d ? wholeSentence(d) : "";
  return (
    <div className="review-file">
      <div className="review-file-head">
        <span className="review-back"><IconButton name="Back to the list" small onClick={onBack}><ArrowLeft size={14} aria-hidden /></IconButton></span>
        <h2 className="mono ellipsis" title={f.path}><SafeLine text={name} /> <span className="review-dir"><SafeLine text={dir} /></span></h2>
        {f.added >= 0 && <span className="tnum review-sum"><span className="plus">+{f.added}</span> {f.removed > 0 && <span className="minus">−{f.removed}</span>}</span>}
        <span className="grow" />
        {!guarded && f.kind !== "D" && <Button look="small quiet" onClick={onOpen}><ExternalLink size={13} aria-hidden /> Open <KeyOf of="review.open" /></Button>}
        {!guarded && f.kind !== "D" && <IconButton name="Open in editor" action="review.edit" small onClick={onEdit}><SquarePen size={14} aria-hidden /></IconButton>}
        {editable && <Button look="small quiet" disabled={busy || f.unstaged === 0 || !d} onClick={onAcceptFile}><CheckCheck size={14} aria-hidden /> {guarded ? "I have seen it" : "Accept file"} <KeyOf of="review.accept-file" /></Button>}
      </div>
      <div className="review-hunks">
        <div ref={content}>
          {!state && <div className="review-pad" role="status" aria-label="Reading the changes">{[60, 45, 70].map((w) => <div key={w} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
          {state?.failure && <div className="review-pad"><FailureCard failure={state.failure}><Button look="small" onClick={onAgain}>Try again</Button></FailureCard></div>}
          {d && (words || d.whole === "binary") && (
            <p className="review-note">
              {words || "This file is no text."} {d.bytes >= 0 ? <>It has {byteSize(d.bytes)}{d.before >= 0 && d.before !== d.bytes ? `, and had ${byteSize(d.before)}` : ""}.</> : d.before >= 0 && <>It had {byteSize(d.before)}.</>}
            </p>
          )}
          {since && <p className="review-note">{sinceSentence(since)} {(since === "edited" || since === "other") && <button type="button" className="link" onClick={onWorktree}>Show the worktree</button>}</p>}
          {d && hunks.length === 0 && !words && d.whole !== "binary" && <p className="review-note">Nothing of it is changed any more.</p>}
          {hunks.map((h, i) => (
            <HunkView key={h.id + String(h.staged)} hunk={h} path={f.path} here={i === hunk} line={line} split={split} first={Math.abs(i - hunk) < AT_ONCE} editable={editable} whole={whole} busy={busy} guarded={guarded}
              acts={acts} writing={writing} comments={comments} notes={notes} onEnter={() => onHunk(i)} />
          ))}
        </div>
      </div>
    </div>
  );
}
