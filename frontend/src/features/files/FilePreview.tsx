import { ArrowLeft, Lock } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { ChannelID, Failure } from "../../api/types";
import { useHighlight } from "../../ui/useHighlight";
import { exact, when } from "../../model/clock";
import { languageOf, nameOf } from "../../model/file-tree";
import { byteSize } from "../../model/byteSize";
import type { Preview } from "../../model/file-preview";
import { insertWord } from "../../model/files";
import { draftsStore } from "../../model/stores";
import { focusPrompt } from "../../session/actions";
import { draftOf, setDraft } from "../../session/drafts";
import { Button, IconButton } from "../../ui/Button";
import { CodeText } from "../../ui/CodeText";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { SafeLine } from "../../ui/SafeText";
import type { Shown } from "./usePreview";

type Props = { channelId: ChannelID; path: string; shown: Shown | null; failure: Failure | null; onAgain(): void; onBack(): void };

function toPrompt(channelId: ChannelID, path: string) {
  const draft = draftOf(draftsStore.getState(), channelId);
  setDraft(channelId, insertWord(draft, draft.length, path).text);
  focusPrompt();
}

/** One file: where it is, and what is in it. */
export function FilePreview({ channelId, path, shown, failure, onAgain, onBack }: Props) {
  const c = shown?.content;
  return (
    <div className="files-preview">
      <div className="files-preview-head">
        <span className="files-back"><IconButton name="Back to the list" small onClick={onBack}><ArrowLeft size={14} aria-hidden /></IconButton></span>
        <h2 className="mono ellipsis" title={c?.path ?? path}><SafeLine text={nameOf(path)} /></h2>
        {c && <span className="tnum files-fact">{byteSize(c.bytes)}</span>}
        {c && c.modified_ms > 0 && <span className="tnum files-fact" title={exact(c.modified_ms)}>{when(c.modified_ms)}</span>}
        {c?.read_only && <span className="files-fact"><Lock size={12} aria-hidden /> read-only inside</span>}
        <span className="grow" />
        <CopyButton text={() => c?.path ?? path}>Copy path</CopyButton>
        <Button look="small" onClick={() => toPrompt(channelId, c?.path ?? path)}>Put into the prompt</Button>
      </div>
      {c?.host_path && c.host_path !== c.path && <p className="files-where">On this computer: <span className="mono"><SafeLine text={c.host_path} /></span></p>}
      {c && !c.host_path && <p className="files-where">In the container alone.</p>}
      {failure && <div className="files-pad"><FailureCard failure={failure}><Button look="small" onClick={onAgain}>Try again</Button></FailureCard></div>}
      {!failure && !shown && <div className="files-pad" role="status" aria-label="Reading the file">{[60, 45, 70, 52].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
      {!failure && shown && <Body path={path} preview={shown.preview} />}
    </div>
  );
}

function Body({ path, preview }: { path: string; preview: Preview }) {
  if (preview.kind === "picture") return <Picture preview={preview} name={nameOf(path)} />;
  if (preview.kind === "text") return <Lines path={path} lines={preview.lines} whole={preview.whole} />;
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

function Lines({ path, lines, whole }: { path: string; lines: string[]; whole: boolean }) {
  const code = useMemo(() => lines.join("\n"), [lines]);
  const tokens = useHighlight(code, languageOf(path));
  return (
    <div className="files-text selectable mono" tabIndex={0} role="group" aria-label={`Content of ${nameOf(path)}`}>
      <ol className="files-lines" style={{ counterReset: "line" }}>
        {lines.map((l, i) => (
          <li key={i}><CodeText text={l} tokens={tokens?.[i]} /></li>
        ))}
      </ol>
      {!whole && <p className="files-rest">The file goes on. Open it in a terminal or an editor to see the rest.</p>}
    </div>
  );
}
