import { ArrowLeft, Lock } from "lucide-react";
import type { KeyboardEvent, MouseEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ChannelID, Failure } from "../../api/types";
import { useHighlight } from "../../ui/useHighlight";
import { exact, when } from "../../model/clock";
import { languageOf, nameOf } from "../../model/file-tree";
import { byteSize } from "../../model/byteSize";
import type { Preview } from "../../model/file-preview";
import type { Lines as Chosen } from "../../model/fileplace";
import { chosenLines, linesWords, placeWords } from "../../model/fileplace";
import { insertWord } from "../../model/files";
import { draftsStore } from "../../model/stores";
import { focusPrompt } from "../../session/actions";
import { draftOf, setDraft } from "../../session/drafts";
import { openInEditor } from "../../session/openfile";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { CodeText } from "../../ui/CodeText";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { SafeLine } from "../../ui/SafeText";
import type { Shown } from "./usePreview";
import { pressed } from "../../ui/keys";

type Props = { channelId: ChannelID; path: string; line: number; visit: number; shown: Shown | null; failure: Failure | null; onAgain(): void; onBack(): void };

function toPrompt(channelId: ChannelID, words: string) {
  const draft = draftOf(draftsStore.getState(), channelId);
  setDraft(channelId, insertWord(draft, draft.length, words).text);
  focusPrompt();
}

/** One file: where it is, and what is in it. */
export function FilePreview({ channelId, path, line, visit, shown, failure, onAgain, onBack }: Props) {
  const c = shown?.content;
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(() => setChosen(line > 0 ? { from: line, to: line } : null), [line, visit]);
  const ask = () => toPrompt(channelId, placeWords(c?.path ?? path, chosen));
  const edit = () => void openInEditor(channelId, { path: c?.path ?? path, line: chosen?.from ?? line });
  const press = (e: KeyboardEvent) => {
    if (pressed("files", e) !== "files.edit") return;
    e.preventDefault();
    edit();
  };
  return (
    <div className="files-preview" tabIndex={-1} onKeyDown={press}>
      <div className="files-preview-head">
        <span className="files-back"><IconButton name="Back to the list" small onClick={onBack}><ArrowLeft size={14} aria-hidden /></IconButton></span>
        <h2 className="mono ellipsis" title={c?.path ?? path}><SafeLine text={nameOf(path)} /></h2>
        {c && <span className="tnum files-fact">{byteSize(c.bytes)}</span>}
        {c && c.modified_ms > 0 && <span className="tnum files-fact" title={exact(c.modified_ms)}>{when(c.modified_ms)}</span>}
        {c?.read_only && <span className="files-fact"><Lock size={12} aria-hidden /> read-only inside</span>}
        <span className="grow" />
        {c?.host_path && <Button look="small" onClick={edit}>Open in editor <KeyOf of="files.edit" /></Button>}
        <CopyButton text={() => c?.path ?? path}>Copy path</CopyButton>
        <Button look="small" onClick={ask}>{chosen ? `Ask about ${linesWords(chosen)}` : "Ask about this"}</Button>
      </div>
      {c?.host_path && c.host_path !== c.path && <p className="files-where">On this computer: <span className="mono"><SafeLine text={c.host_path} /></span></p>}
      {c && !c.host_path && <p className="files-where">In the container alone.</p>}
      {failure && <div className="files-pad"><FailureCard failure={failure}><Button look="small" onClick={onAgain}>Try again</Button></FailureCard></div>}
      {!failure && !shown && <div className="files-pad" role="status" aria-label="Reading the file">{[60, 45, 70, 52].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
      {!failure && shown && <Body path={path} preview={shown.preview} line={line} visit={visit} chosen={chosen} onChoose={setChosen} onAsk={ask} />}
    </div>
  );
}

type LinesProps = { path: string; line: number; visit: number; chosen: Chosen | null; onChoose(c: Chosen | null): void; onAsk(): void };

function Body({ preview, ...lines }: LinesProps & { preview: Preview }) {
  const { path } = lines;
  if (preview.kind === "picture") return <Picture preview={preview} name={nameOf(path)} />;
  if (preview.kind === "text") return <Lines {...lines} lines={preview.lines} whole={preview.whole} />;
  return <div className="dock-empty"><p>{preview.kind === "none" ? preview.why : "The picture could not be read whole."} Open it with a program that knows its kind.</p></div>;
}

function Picture({ preview, name }: { preview: Extract<Preview, { kind: "picture" }>; name: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([preview.bytes], { type: preview.type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [preview]);
  return (
    <div className="files-picture" tabIndex={0} role="group" aria-label="Picture">
      {url && <img src={url} alt={name} draggable={false} />}
      <p className="tnum">{preview.width} × {preview.height}</p>
    </div>
  );
}

/** The lines of a text. A click on a number chooses its line, with Shift all up to it; so do Shift and the arrow keys. */
function Lines({ path, lines, whole, line, visit, chosen, onChoose, onAsk }: LinesProps & { lines: string[]; whole: boolean }) {
  const list = useRef<HTMLOListElement>(null);
  const arrived = useRef(-1); // the visit that has brought the keyboard here
  useEffect(() => {
    const el = line > 0 ? list.current?.children[Math.min(line, lines.length) - 1] : null;
    const text = list.current?.parentElement;
    if (arrived.current === visit && !text?.contains(document.activeElement)) return; // who has gone on is left alone
    el?.scrollIntoView({ block: "center" });
    if (visit > 0 && line > 0 && arrived.current !== visit) text?.focus({ preventScroll: true });
    arrived.current = visit;
  }, [line, visit, lines]);
  const press = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (pressed("files", e) === "files.ask") onAsk();
    else if (e.shiftKey && step && chosen) {
      const to = Math.max(chosen.from, Math.min(lines.length, chosen.to + step));
      onChoose({ from: chosen.from, to });
      list.current?.children[to - 1]?.scrollIntoView({ block: "nearest" });
    } else return;
    e.preventDefault();
  };
  const pick = (e: MouseEvent) => {
    const no = e.target instanceof Element ? e.target.closest("[data-no]") : null;
    const at = no?.parentElement ? [...(list.current?.children ?? [])].indexOf(no.parentElement) + 1 : 0;
    if (at > 0) onChoose(chosenLines(chosen, at, e.shiftKey));
  };
  const code = useMemo(() => lines.join("\n"), [lines]);
  const tokens = useHighlight(code, languageOf(path));
  return (
    <div className="files-text selectable mono" tabIndex={0} role="group" aria-label={`Content of ${nameOf(path)}`} onKeyDown={press} onClick={pick}>
      {line > lines.length && whole && <p className="files-rest">The file has only {lines.length === 1 ? "one line" : `${lines.length} lines`} now.</p>}
      <ol className="files-lines" style={{ counterReset: "line" }} ref={list}>
        {lines.map((l, i) => (
          <li key={i} className={chosen && i + 1 >= chosen.from && i + 1 <= chosen.to ? "files-chosen" : undefined} aria-current={i + 1 === line ? "location" : undefined}><span className="files-no" data-no aria-hidden /><CodeText text={l} tokens={tokens?.[i]} /></li>
        ))}
      </ol>
      {!whole && <p className="files-rest">The file goes on. Open it in a terminal or an editor to see the rest.</p>}
    </div>
  );
}
