import { useMemo, useState } from "react";
import { parsePatch } from "../model/patch";
import type { PatchLine } from "../model/patch";
import { SafeText } from "./SafeText";
import "./diff.css";

const FOLD_LINES = 24;
const SIGN = { add: "+", del: "−", same: " ", hunk: "" };
const WORD = { add: "added", del: "removed", same: "", hunk: "" };

/** A unified diff with numbered lines. It is not folded where the person must see the whole of it. */
export function Diff({ patch, name, fold = false }: { patch: string; name: string; fold?: boolean }) {
  const lines = useMemo(() => parsePatch(patch), [patch]);
  const [all, setAll] = useState(!fold);
  const long = fold && lines.length > FOLD_LINES + 4;
  const shown = long && !all ? lines.slice(0, FOLD_LINES) : lines;
  if (lines.length === 0) return null;
  return (
    <>
      <div className={fold ? "diff-scroll selectable" : "diff-scroll boxed selectable"} tabIndex={0} role="group" aria-label={name}>
        <table>
          <tbody>
            {shown.map((l, i) => (
              <Line key={i} line={l} first={i === 0} />
            ))}
          </tbody>
        </table>
      </div>
      {long && (
        <div className="output-foot">
          <button type="button" className="link small" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show less" : `Show all ${lines.length} lines`}
          </button>
        </div>
      )}
    </>
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
      <td className="diff-text">
        <SafeText text={line.text || " "} />
      </td>
    </tr>
  );
}
