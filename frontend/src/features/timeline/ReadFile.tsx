import { useState } from "react";
import { languageOf } from "../../model/file-tree";
import type { ReadLines } from "../../model/timeline/readlines";
import { CodeLines } from "../../ui/CodeLines";
import { CopyIcon } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";
import { OpenIcon } from "./FileLink";
import { More } from "./Output";

const FOLD_LINES = 12;
const WORTH = 4; // fewer hidden lines are shown at once

/** The lines of a file that the agent read, the first of them until the person wants all. */
export function ReadFile({ read, path, truncated }: { read: ReadLines; path: string; truncated: boolean }) {
  const [all, setAll] = useState(false);
  const hidden = read.lines.length - FOLD_LINES;
  const folds = hidden >= WORTH;
  return (
    <figure className="output" aria-label="Content">
      <span className="output-copy"><OpenIcon path={path} line={read.first} /><CopyIcon text={read.lines.join("\n")} name="Copy the lines" /></span>
      <CodeLines lines={read.lines} first={read.first} shown={folds && !all ? FOLD_LINES : read.lines.length} lang={languageOf(path)} name={`Lines of ${path}`} />
      {folds && <More does={all ? "" : `${hidden} more lines`} act={all ? "show less" : "show all"} less={all} onClick={() => setAll(!all)} />}
      {read.rest && (!folds || all) && <p className="output-left output-rest"><SafeText text={read.rest} /></p>}
      {truncated && <p className="output-left">Cut here: the rest was not kept.</p>}
    </figure>
  );
}
