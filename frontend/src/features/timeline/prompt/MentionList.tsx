import { FileText, Folder } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Part } from "../../../model/mention";
import { matchParts } from "../../../model/mention";
import { Kbd } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import type { Mention } from "./useMention";
import "./mention.css";

/** The files that the person may mean. The prompt box keeps the focus. */
export function MentionList({ mention }: { mention: Mention }) {
  const { found, fault, active, id } = mention;
  const list = useRef<HTMLDivElement>(null);
  const files = found?.files ?? [];
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active, found]);
  const count = found ? `${files.length} of ${found.total.toLocaleString("en")} that match` : "";
  const ignored = found && found.ignored > 0 ? ` Not searched: ${found.ignored.toLocaleString("en")} that git ignores.` : "";
  const partial = found?.partial ? " There are more files than Loop looks through." : "";
  return (
    <div className="mention">
      <div className="mention-head"><span>In the container</span><span role="status">{count}</span></div>
      {fault ? <p className="mention-note"><SafeText text={fault} /></p> : null}
      {!found && !fault ? <p className="mention-note">Looking for files</p> : null}
      {found && files.length === 0 ? <p className="mention-note">No file matches.{ignored}{partial}</p> : null}
      {files.length > 0 && (
        <div className="mention-list" role="listbox" aria-label="Files" id={id} ref={list}>
          {files.map((f, i) => {
            const { name, dir } = matchParts(f.path, f.marks ?? []);
            const Icon = f.path.endsWith("/") ? Folder : FileText;
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
              </div>
            );
          })}
        </div>
      )}
      <div className="mention-foot">
        <span><Kbd>Enter</Kbd> insert</span><span><Kbd>Tab</Kbd> go into a folder</span><span><Kbd>Esc</Kbd> close</span>
      </div>
    </div>
  );
}

function Marked({ parts }: { parts: Part[] }) {
  return parts.map((p, i) => (p.marked ? <mark key={i} className="mention-mark"><SafeText text={p.text} /></mark> : <SafeText key={i} text={p.text} />));
}
