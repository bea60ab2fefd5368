import { Pencil, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useRef, useState } from "react";
import type { Comment } from "../../model/review";
import { Button, IconButton, Kbd } from "../../ui/Button";
import { composing, keys, mod, MOD } from "../../ui/keys";

/** The box for a comment below its line. What is typed is lost only by Esc or Cancel. */
export function CommentBox({ line, draft, onType, onSave, onCancel }: { line: number; draft: string; onType(text: string): void; onSave(text: string): void; onCancel(): void }) {
  const [text, setText] = useState(draft);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  function onKeyDown(e: KeyboardEvent) {
    if (composing(e)) return;
    if (e.key === "Escape") onCancel();
    else if (e.key === "Enter" && mod(e)) {
      if (text.trim()) onSave(text);
      if (e.shiftKey) return; // the panel then sends all of them
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
  return (
    <div className="review-comment review-writing" onKeyDown={onKeyDown}>
      <textarea ref={box} rows={2} aria-label={`Comment on line ${line}`} value={text} onChange={(e) => { onType(e.target.value); setText(e.target.value); }} />
      <div className="review-comment-foot">
        <span>Line {line}</span>
        <span className="grow" />
        <Button look="small" onClick={onCancel}>Cancel <Kbd>Esc</Kbd></Button>
        <Button look="small primary" disabled={!text.trim()} onClick={() => onSave(text)}>Add comment <Kbd>{keys(MOD, "Enter")}</Kbd></Button>
      </div>
    </div>
  );
}

/** A comment that was gathered. */
export function CommentNote({ comment, onRemove }: { comment: Comment; onRemove(): void }) {
  return (
    <div className="review-comment">
      <Pencil size={13} aria-hidden />
      <p className="selectable">{comment.text}</p>
      <IconButton name={`Remove the comment on line ${comment.line}`} small onClick={onRemove}><X size={13} aria-hidden /></IconButton>
    </div>
  );
}
