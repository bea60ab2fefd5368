import type { ReactNode } from "react";
import { Fragment, useEffect, useMemo, useRef } from "react";
import type { Token } from "../../code/highlight";
import type { Ranges } from "../../model/change";
import type { PatchLine } from "../../model/patch";
import type { Comment, Pair } from "../../model/review";
import { pairsOf, partsOf } from "../../model/review";
import { CodeText } from "../../ui/CodeText";
import { SafeText } from "../../ui/SafeText";
import type { CommentActs } from "./acts";
import { CommentBox, CommentNote } from "./CommentBox";
import { Unseen } from "./Unseen";

const PART = 200; // lines that are made together

const LOOK = { add: "review-add", del: "review-del", same: "", hunk: "" };
// Parts are tables of their own. Their columns are the same whatever row is the first.
const SPLIT = <colgroup><col className="review-no" /><col className="review-sign" /><col /><col className="review-no" /><col className="review-sign" /><col /></colgroup>;
const UNIFIED = <colgroup><col className="review-no" /><col className="review-no" /><col className="review-sign" /><col /></colgroup>;

const SIGN = { add: "+", del: "-", same: "", hunk: "" };

type Props = {
  lines: readonly PatchLine[]; tokens(i: number): Token[] | undefined; marks: Map<number, Ranges>; split: boolean; here: number; name: string;
  writing: number; comments: readonly Comment[]; notes: CommentActs; onComment(line: number): void;
};

/** The lines of a hunk, side by side or in one column, with comments below theirs. */
export function HunkLines({ lines, tokens, marks, split, here, name, writing, comments, notes, onComment }: Props) {
  const about = (i: number) => comments.filter((c) => (c.old ? lines[i]?.kind === "del" && lines[i]?.oldNo === c.line : lines[i]?.newNo === c.line && lines[i]?.kind !== "del" && lines[i]?.kind !== "hunk"));
  const below = (i: number): ReactNode => {
    const found = i < 0 ? [] : about(i);
    const l = lines[i];
    if (!l || (found.length === 0 && i !== writing)) return null;
    return (
      <>
        {found.map((c) => <CommentNote key={c.id} comment={c} onRemove={() => notes.remove(c)} />)}
        {i === writing && <CommentBox line={l.newNo || l.oldNo} draft={notes.draft()} onType={notes.type} onSave={notes.save} onCancel={notes.cancel} />}
      </>
    );
  };
  const code = (i: number) => <CodeText text={lines[i]?.text || " "} tokens={tokens(i)} marks={marks.get(i)} markedAs="review-word" />;
  const number = (i: number, n: number) => <td className="review-no tnum" title="Comment on this line" onClick={() => onComment(i)}>{n || ""}</td>;
  const side = (i: number, old: boolean) => {
    const l = lines[i];
    if (!l) return <td className="review-gap" colSpan={3} aria-hidden />;
    return (
      <>
        {number(i, old ? l.oldNo : l.newNo)}
        <td className={`review-sign ${LOOK[l.kind]}`}>{SIGN[l.kind]}</td>
        <td className={`review-code ${LOOK[l.kind]} ${i === here ? "review-line" : ""}`}>{code(i)}</td>
      </>
    );
  };
  const el = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (el.current === document.activeElement) el.current?.querySelector(".review-at")?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const rows = useMemo(() => partsOf(split ? pairsOf(lines) : lines.map((_, i) => ({ left: i, right: i })), PART), [lines, split]);
  const has = ({ left, right }: Pair, i: number) => i >= 0 && (left === i || right === i);
  const wanted = (r: Pair) => has(r, here) || has(r, writing) || (comments.length > 0 && (about(r.left).length > 0 || about(r.right).length > 0));
  const row = ({ left, right }: Pair) => {
    const l = lines[left];
    if (l?.kind === "hunk") return <tr key={left}><td className="review-said" colSpan={split ? 6 : 4}><SafeText text={l.text} /></td></tr>;
    if (!split) return l && plain(left, l);
    const [under, over] = [left === right ? null : below(left), below(right)];
    return (
      <Fragment key={`${left} ${right}`}>
        <tr className={left === here || right === here ? "review-at" : ""}>{side(left, true)}{side(right, false)}</tr>
        {(under || over) && <tr className="review-below"><td colSpan={3} className={under ? "" : "review-gap"}>{under}</td><td colSpan={3} className={over ? "" : "review-gap"}>{over}</td></tr>}
      </Fragment>
    );
  };
  const plain = (i: number, l: PatchLine) => {
    const under = below(i);
    return (
      <Fragment key={i}>
        <tr className={i === here ? "review-at" : ""}>
          {number(i, l.oldNo)}
          {number(i, l.newNo)}
          <td className={`review-sign ${LOOK[l.kind]}`}>{SIGN[l.kind]}</td>
          <td className={`review-code ${LOOK[l.kind]} ${i === here ? "review-line" : ""}`}>{code(i)}</td>
        </tr>
        {under && <tr className="review-below"><td colSpan={4}>{under}</td></tr>}
      </Fragment>
    );
  };
  return (
    <div className="review-lines selectable" ref={el} tabIndex={0} role="group" aria-label={name}>
      {rows.map((part, i) => (
        <Unseen key={i} rows={part.length} first={i === 0} wanted={part.some(wanted)}>
          {() => <table className={split ? "review-split" : ""}>{split ? SPLIT : UNIFIED}<tbody>{part.map(row)}</tbody></table>}
        </Unseen>
      ))}
    </div>
  );
}
