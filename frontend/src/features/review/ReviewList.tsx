import { Circle, CircleCheck, MessageSquareText, ShieldAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ReviewFile } from "../../api/types";
import type { Comment } from "../../model/review";
import { acceptedOf, acceptedWords, kindWord, nameOf } from "../../model/review";
import { plural } from "../../model/format";
import { Ring } from "../../ui/Ring";
import { SafeLine } from "../../ui/SafeText";

const LOOK = { all: "review-all", some: "review-some", none: "" };

type Props = { files: ReviewFile[]; at: string; comments: readonly Comment[]; onChoose(f: ReviewFile): void; onOpen(f: ReviewFile): void };

/** The files that changed, those that reach further than the project first. */
export function ReviewList({ files, at, comments, onChoose, onOpen }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const index = files.findIndex((f) => f.path === at);
  useEffect(() => list.current?.querySelector(".here")?.scrollIntoView({ block: "nearest" }), [index]);
  return (
    <div className="review-list" ref={list} role="listbox" tabIndex={0} aria-label="Changed files" aria-activedescendant={index >= 0 ? `review-file-${index}` : undefined}>
      {files.map((f, i) => {
        const { name, dir } = nameOf(f.path);
        const n = comments.filter((c) => c.path === f.path).length;
        const state = acceptedOf(f);
        return (
          <div key={f.path} id={`review-file-${i}`} role="option" aria-selected={f.path === at} className={`review-row ${f.path === at ? "here" : ""} ${f.alarm ? "review-alarm" : ""}`}
            title={f.path} onClick={() => onChoose(f)} onDoubleClick={() => onOpen(f)}>
            <span className={`review-state ${LOOK[state]}`}>
              {state === "all" ? <CircleCheck size={14} aria-hidden /> : state === "some" ? <Ring percent={(100 * f.staged) / (f.staged + f.unstaged)} /> : <Circle size={14} aria-hidden />}
            </span>
            <span className="review-kind mono" aria-hidden>{f.kind}</span>
            <span className="sr-only">{kindWord(f.kind)} </span>
            <span className="review-name mono ellipsis"><SafeLine text={name} /> <span className="review-dir"><SafeLine text={dir} /></span></span>
            {f.alarm && <span className="review-why"><ShieldAlert size={13} aria-hidden /> <b>{f.alarm.word}</b> <span className="review-because">{f.alarm.why}</span></span>}
            <span className="grow" />
            {n > 0 && <span className="review-notes tnum"><MessageSquareText size={13} aria-hidden /> {n}<span className="sr-only"> {n === 1 ? "comment" : "comments"}</span></span>}
            {acceptedWords(f) && <span className={f.since ? "review-words review-since" : "review-words"}>{acceptedWords(f)}</span>}
            <Counts f={f} />
          </div>
        );
      })}
    </div>
  );
}

function Counts({ f }: { f: ReviewFile }) {
  if (f.added < 0) return <span className="review-counts review-dir">not counted</span>;
  return (
    <span className="review-counts tnum" aria-label={`${plural(f.added, "line")} added, ${f.removed} removed`} role="img">
      <span className="plus">{f.added > 0 && `+${f.added}`}</span>
      <span className="minus">{f.removed > 0 && `−${f.removed}`}</span>
    </span>
  );
}
