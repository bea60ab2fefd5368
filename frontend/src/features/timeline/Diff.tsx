import { useMemo, useState } from "react";
import type { FileChange } from "../../api/types";
import { parsePatch } from "../../model/timeline/patch";
import type { PatchLine } from "../../model/timeline/patch";
import { CopyIcon } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";

const FOLD_LINES = 24;
const SIGN = { add: "+", del: "−", same: " ", hunk: "" };
const WORD = { add: "added", del: "removed", same: "", hunk: "" };

export function Diff({ change, path }: { change: FileChange; path: string }) {
  const lines = useMemo(() => parsePatch(change.patch ?? ""), [change.patch]);
  const [all, setAll] = useState(false);
  const long = lines.length > FOLD_LINES + 4;
  const shown = long && !all ? lines.slice(0, FOLD_LINES) : lines;
  return (
    <figure className="diff">
      <figcaption>
        <span className="mono ellipsis">
          <SafeText text={path} />
        </span>
        <span className="muted">{change.kind === "create" ? "new file" : "changed"}</span>
        <span className="marks tnum">
          {change.added > 0 && <span className="plus">+{change.added}</span>}
          {change.removed > 0 && <span className="minus">−{change.removed}</span>}
        </span>
        {change.patch && <CopyIcon text={change.patch} name="Copy the change" />}
      </figcaption>
      {shown.length > 0 && (
        <div className="diff-scroll selectable" tabIndex={0} role="group" aria-label={`Change to ${path}`}>
          <table>
            <tbody>
              {shown.map((l, i) => (
                <Line key={i} line={l} first={i === 0} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {long && (
        <div className="output-foot">
          <button type="button" className="link small" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show less" : `Show all ${lines.length} lines`}
          </button>
        </div>
      )}
    </figure>
  );
}

function Line({ line, first }: { line: PatchLine; first: boolean }) {
  if (line.kind === "hunk") {
    if (first && !line.text) return null;
    return (
      <tr className="hunk">
        <td colSpan={3}>{line.text ? <SafeText text={line.text} /> : "⋯"}</td>
      </tr>
    );
  }
  return (
    <tr className={line.kind}>
      <td className="no tnum">{line.newNo || line.oldNo}</td>
      <td className="sign">
        {SIGN[line.kind]}
        <span className="sr-only">{WORD[line.kind]}</span>
      </td>
      <td className="code">
        <SafeText text={line.text || " "} />
      </td>
    </tr>
  );
}
