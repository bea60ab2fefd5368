import { ChevronDown, GitBranch, MessageSquareText } from "lucide-react";
import type { FormEvent } from "react";
import { useState } from "react";
import type { ReviewStatus } from "../../api/types";
import type { Comment, Totals } from "../../model/review";
import { stateSentence } from "../../model/review";
import { plural } from "../../model/format";
import { Button, IconButton, Kbd } from "../../ui/Button";
import { keys, MOD } from "../../ui/keys";
import { Menu, MenuItem } from "../../ui/Menu";
import { SafeLine } from "../../ui/SafeText";
import { CommentNote } from "./CommentBox";

/** The gathered comments, and the way to send them. */
export function CommentsBar({ comments, onSend, onRemove }: { comments: readonly Comment[]; onSend(): void; onRemove(c: Comment): void }) {
  const [open, setOpen] = useState(false);
  if (comments.length === 0) return null;
  return (
    <div className="review-gathered">
      {open && (
        <ul aria-label="Comments">
          {comments.map((c) => <li key={c.id}><span className="mono"><SafeLine text={`${c.path}:${c.line}`} /></span><CommentNote comment={c} onRemove={() => onRemove(c)} /></li>)}
        </ul>
      )}
      <div className="review-gathered-bar">
        <MessageSquareText size={14} aria-hidden />
        <b>{plural(comments.length, "comment")} gathered</b>
        <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "Hide" : "Show"}</button>
        <span className="grow" />
        <Button onClick={onSend}>Send as one prompt <Kbd>{keys(MOD, "Shift", "Enter")}</Kbd></Button>
      </div>
    </div>
  );
}

/** What the repository is in the middle of. To give it up takes a second press. */
export function StateBar({ state, busy, onProceed }: { state: string; busy: boolean; onProceed(abort: boolean): void }) {
  const [sure, setSure] = useState(false);
  const sentence = stateSentence(state);
  if (!sentence) return null;
  return (
    <div className="review-middle" role="status">
      <span>{sentence} {sure && "What was resolved since it began would be lost."}</span>
      <span className="grow" />
      {sure && <Button look="small" onClick={() => setSure(false)}>Keep it</Button>}
      <Button look={sure ? "small danger" : "small"} disabled={busy} onClick={() => { if (sure) onProceed(true); setSure(!sure); }}>{sure ? "Abort, and lose that" : "Abort"}</Button>
      {!sure && <Button look="small" disabled={busy} onClick={() => onProceed(false)}>Continue</Button>}
    </div>
  );
}

type Props = {
  status: ReviewStatus; totals: Totals; busy: boolean; message: string; bulk: number;
  onMessage(text: string): void; onCommit(): void; onBranch(name: string): Promise<boolean>; onAcceptAll(): void; onTakeBack(): void;
};

/** The branch, the message, and the commit of what is accepted. */
export function CommitBar({ status, totals, busy, message, bulk, onMessage, onCommit, onBranch, onAcceptAll, onTakeBack }: Props) {
  const [name, setName] = useState<string | null>(null);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (name === null) onCommit();
    else if (name.trim()) void onBranch(name.trim()).then((ok) => ok && setName(null));
  };
  const nothing = totals.staged === 0;
  return (
    <form className="review-commit" onSubmit={submit}>
      <Button aria-expanded={name !== null} title="Begin another branch here" onClick={() => setName(name === null ? "" : null)}>
        <GitBranch size={13} aria-hidden /> <span className="ellipsis">{status.branch ? <SafeLine text={status.branch} /> : "no branch"}</span> <ChevronDown size={13} aria-hidden />
      </Button>
      {name === null ? (
        <>
          <input className="field" aria-label="Message of the commit" placeholder="What the commit does" value={message} onChange={(e) => onMessage(e.target.value)} />
          <span className="review-both">
            <Button type="submit" disabled={busy || nothing || !message.trim()} title={nothing ? "Accept a hunk or a file first" : message.trim() ? "" : "Say first what the commit does"}>
              Commit <span className="review-of tnum">{totals.staged} of {plural(totals.hunks, "hunk")}</span>
            </Button>
            <Menu align="end" side="top" button={<IconButton name="More ways"><ChevronDown size={14} aria-hidden /></IconButton>}>
              <MenuItem name={`Accept all${bulk > 0 ? ` ${plural(bulk, "file")}` : ""}`} disabled={busy || bulk === 0} onSelect={onAcceptAll} />
              <MenuItem name="Take back what is accepted" disabled={busy || nothing} onSelect={onTakeBack} />
            </Menu>
          </span>
        </>
      ) : (
        <>
          <input className="field mono" autoFocus aria-label="Name of the new branch" placeholder="fix/login" spellCheck={false} value={name} onChange={(e) => setName(e.target.value)}
            onKeyDown={(e) => { if (e.key === "Escape") { e.stopPropagation(); setName(null); } }} />
          <Button type="submit" disabled={busy || !name.trim()}>Begin the branch</Button>
        </>
      )}
    </form>
  );
}
