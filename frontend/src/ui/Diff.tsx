import { useMemo, useState } from "react";
import { useColours } from "./useColours";
import type { Token } from "../code/highlight";
import { wordMarks } from "../model/change";
import type { Ranges } from "../model/change";
import { languageOf } from "../model/file-tree";
import { parsePatch } from "../model/patch";
import type { PatchLine } from "../model/patch";
import { CodeText } from "./CodeText";
import { SafeText } from "./SafeText";
import "./diff.css";

const FOLD_LINES = 24;
const COLOURED_LINES = 2000; // of a longer one the words and colours are left out
const SIGN = { add: "+", del: "−", same: " ", hunk: "" };
const WORD = { add: "added", del: "removed", same: "", hunk: "" };

type Props = { patch: string; name: string; fold?: boolean; path?: string; numbered?: boolean };

/**
 * A unified diff with numbered lines and the changed words marked. It is not folded where
 * the person must see the whole of it. path: the file, by whose kind the code is coloured.
 */
export function Diff({ patch, name, fold = false, path = "", numbered = true }: Props) {
  const lines = useMemo(() => parsePatch(patch), [patch]);
  const rich = lines.length <= COLOURED_LINES;
  const marks = useMemo(() => (rich ? wordMarks(lines) : new Map<number, Ranges>()), [lines, rich]);
  const tokens = useColours(lines, rich ? languageOf(path) : "");
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
              <Line key={i} line={l} first={i === 0} numbered={numbered} tokens={tokens(i)} marks={marks.get(i)} />
            ))}
          </tbody>
        </table>
      </div>
      {long && (
        <div className="output-foot">
          <button type="button" className="link small" data-more aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show less" : `Show all ${lines.length} lines`}
          </button>
        </div>
      )}
    </>
  );
}

type LineProps = { line: PatchLine; first: boolean; numbered: boolean; tokens: Token[] | undefined; marks: Ranges | undefined };

function Line({ line, first, numbered, tokens, marks }: LineProps) {
  if (line.kind === "hunk") {
    if (first && !line.text) return null;
    return (
      <tr className="hunk">
        <td colSpan={numbered ? 3 : 2}>{line.text ? <SafeText text={line.text} /> : "⋯"}</td>
      </tr>
    );
  }
  return (
    <tr className={line.kind}>
      {numbered && <td className="no tnum">{line.newNo || line.oldNo}</td>}
      <td className="sign">
        {SIGN[line.kind]}
        <span className="sr-only">{WORD[line.kind]}</span>
      </td>
      <td className="diff-text">
        <CodeText text={line.text || " "} tokens={tokens} marks={marks} markedAs="diff-word" />
      </td>
    </tr>
  );
}
