import { FilePlus, FileX, TriangleAlert, Undo2, UserPen } from "lucide-react";
import { useEffect, useRef } from "react";
import type { BackFile, RewindPreview, RunID } from "../../api/types";
import { clock } from "../../model/clock";
import { plural } from "../../model/format";
import { backWords, placeOf } from "../../model/rewind";
import { Diff } from "../../ui/Diff";
import { Kbd, KeyOf } from "../../ui/Button";
import { SafeLine } from "../../ui/SafeText";
import { useBackDiff } from "./usePreview";

const ICONS = { changed: Undo2, removed: FileX, comes: FilePlus, stays: Undo2 };

type Props = { p: RewindPreview; run: RunID; here: BackFile | undefined; keep: ReadonlySet<string>; onChoose(path: string): void; onTick(): void };

/** The files that change back, and the difference of one of them. */
export function BackFiles({ p, run, here, keep, onChoose, onTick }: Props) {
  const files = p.files ?? [];
  const list = useRef<HTMLDivElement>(null);
  const index = here ? files.indexOf(here) : -1;
  useEffect(() => list.current?.querySelector(".here")?.scrollIntoView({ block: "nearest" }), [index]);
  const some = files.length > 0;
  useEffect(() => {
    if (some && document.activeElement?.matches(".rewind-body")) list.current?.focus(); // the keyboard was here before the list
  }, [some]);
  const diff = useBackDiff(run, here?.path ?? "", p.mark);
  if (p.no_files) return <section aria-label="Files"><h3>Files <span>stay</span></h3><p className="rewind-quiet">{p.no_files}</p></section>;
  const count = p.total === 1 ? "1 changes back" : `${p.total.toLocaleString("en")} change back`;
  return (
    <section aria-label="Files">
      <h3>Files <span>{p.total === 0 ? "all are as they were" : count}</span>{files.length > 1 && <small><Kbd>↑</Kbd> <Kbd>↓</Kbd> look at each</small>}</h3>
      {files.length > 0 && (
        <div className="rewind-box">
          <div className="rewind-list" ref={list} role="listbox" tabIndex={0} aria-label="Files that change back" aria-activedescendant={index >= 0 ? `rewind-file-${index}` : undefined}>
            {files.map((f, i) => <Row key={f.path} f={f} id={`rewind-file-${i}`} here={i === index} kept={keep.has(f.path)} onChoose={onChoose} />)}
          </div>
          {p.total > files.length && <p className="rewind-more">{plural(p.total - files.length, "more file")} {p.total - files.length === 1 ? "changes" : "change"} back too</p>}
          {diff?.patch && <div className="rewind-diff"><Diff patch={diff.patch} path={here?.path ?? ""} name={`Difference of ${here?.path ?? ""}`} marked={new Set(diff.own)} mark={<><UserPen size={12} aria-hidden /> you{here?.own_ms ? `, ${clock(here.own_ms)}` : ""}</>} /></div>}
          {diff?.why && <p className="rewind-more">{diff.why}</p>}
          {here?.own_ms ? (
            <label className="rewind-keep">
              <input type="checkbox" checked={keep.has(here.path)} onChange={onTick} />
              Keep my edit of {clock(here.own_ms)} <KeyOf of="rewind.keep" />
              <span>{keep.has(here.path) ? (here.merges ? "ticked, the rest of the file changes back" : "ticked, the file stays as it is") : "unticked, it changes back too"}</span>
            </label>
          ) : null}
        </div>
      )}
    </section>
  );
}

function Row({ f, id, here, kept, onChoose }: { f: BackFile; id: string; here: boolean; kept: boolean; onChoose(path: string): void }) {
  const { name, folder } = placeOf(f.path);
  const Icon = ICONS[f.back] ?? Undo2;
  return (
    <div id={id} role="option" aria-selected={here} className={`rewind-row ${here ? "here" : ""}`} title={f.path} onClick={() => onChoose(f.path)}>
      <Icon size={13} aria-hidden />
      <span className="mono rewind-name"><SafeLine text={name} /></span>
      <span className="mono rewind-folder ellipsis"><SafeLine text={folder} /></span>
      {f.own_ms ? <span className="rewind-own"><TriangleAlert size={13} aria-hidden /> holds an edit of yours</span> : null}
      <span className="grow" />
      <span className="rewind-word">{kept ? (f.merges ? "keeps your edit" : "stays") : backWords(f)}</span>
      <span className="rewind-count tnum plus">{f.added > 0 ? `+${f.added}` : ""}</span>
      <span className="rewind-count tnum minus">{f.removed > 0 ? `−${f.removed}` : ""}</span>
    </div>
  );
}
