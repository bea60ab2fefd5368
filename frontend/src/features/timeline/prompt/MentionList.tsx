import { Database, FileCode2, FileCog, FileImage, FileText, Folder } from "lucide-react";
import { useEffect, useRef } from "react";
import type { FileMatch } from "../../../api/types";
import { plural } from "../../../model/format";
import type { Part } from "../../../model/mention";
import { matchParts } from "../../../model/mention";
import { Kbd } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import type { Mention } from "./useMention";
import "./mention.css";

const ICONS: [RegExp, typeof FileText][] = [
  [/\/$/, Folder],
  [/\.(sql|db|sqlite3?)$/i, Database],
  [/\.(ya?ml|toml|ini|cfg|conf|json|env)$/i, FileCog],
  [/\.(png|jpe?g|gif|webp|svg|ico)$/i, FileImage],
  [/\.(go|[cm]?[jt]sx?|py|rs|rb|java|kt|c|h|cc|cpp|cs|php|swift|sh|css|html?|vue)$/i, FileCode2],
];

/** The files that the person may mean, the recent ones first. The prompt box keeps the focus. */
export function MentionList({ mention }: { mention: Mention }) {
  const { found, fault, active, id, recent, query } = mention;
  const list = useRef<HTMLDivElement>(null);
  const files = found?.files ?? [];
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active, found]);
  const first = files.filter((f) => f.recent).length;
  const count = found ? `${found.total.toLocaleString("en")} of ${plural(found.known, "file").replace(/^\d+/u, (n) => Number(n).toLocaleString("en"))} match` : "";
  const ignored = found && found.ignored > 0 ? ` Not searched: ${found.ignored.toLocaleString("en")} that git ignores.` : "";
  const partial = found?.partial ? " There are more files than Loop looks through." : "";
  const why = new Map(recent.map((r) => [r.path, r.why]));
  const waiting = found || fault ? [] : recent.filter((r) => r.path.toLowerCase().includes(query.toLowerCase())).slice(0, 8);
  const row = (f: FileMatch, i: number) => {
    const { name, dir } = matchParts(f.path, f.marks ?? []);
    const Icon = ICONS.find(([of]) => of.test(f.path))?.[1] ?? FileText;
    const note = why.get(f.path) ?? (f.path.endsWith("/") ? `folder, ${plural(f.files ?? 0, "file")}` : "");
    return (
      <div
        key={f.path}
        id={`${id}-${i}`}
        role="option"
        aria-selected={i === active}
        className="mention-row"
        onMouseDown={(e) => e.preventDefault()}
        onMouseMove={() => mention.point(i)}
        onClick={() => mention.choose(i)}
      >
        <Icon size={14} aria-hidden />
        <span className="mention-name"><Marked parts={name} /></span>
        <span className="mention-dir"><Marked parts={dir} /></span>
        {note && <span className="mention-why">{note}</span>}
      </div>
    );
  };
  return (
    <div className="mention">
      <div className="mention-head"><span>{first > 0 || waiting.length > 0 ? "Recent" : "In the container"}</span><span role="status">{count}</span></div>
      {fault ? <p className="mention-note"><SafeText text={fault} /></p> : null}
      {!found && !fault && waiting.length === 0 ? <p className="mention-note">Looking for files</p> : null}
      {waiting.length > 0 && (
        <ul className="mention-list mention-waiting">
          {waiting.map((r) => <li key={r.path} className="mention-row"><SafeText text={r.path} /><span className="mention-why">{r.why}</span></li>)}
        </ul>
      )}
      {found && files.length === 0 ? <p className="mention-note">No file matches.{ignored}{partial}</p> : null}
      {files.length > 0 && (
        <div className="mention-list" role="listbox" aria-label="Files" id={id} ref={list}>
          {first > 0 && <div role="group" aria-label="Recent">{files.slice(0, first).map(row)}</div>}
          {first > 0 && first < files.length && <div className="mention-head mention-next" aria-hidden>In the container</div>}
          {first < files.length && <div role="group" aria-label="In the container">{files.slice(first).map((f, i) => row(f, first + i))}</div>}
        </div>
      )}
      <div className="mention-foot">
        <span><Kbd>↑</Kbd> <Kbd>↓</Kbd> choose</span><span><Kbd>Enter</Kbd> insert</span><span><Kbd>Tab</Kbd> go into a folder</span>
        <span><code className="mono">:40-60</code> adds lines</span><span className="mention-close"><Kbd>Esc</Kbd> close</span>
      </div>
    </div>
  );
}

export function Marked({ parts }: { parts: Part[] }) {
  return parts.map((p, i) => (p.marked ? <mark key={i} className="mention-mark"><SafeText text={p.text} /></mark> : <SafeText key={i} text={p.text} />));
}
