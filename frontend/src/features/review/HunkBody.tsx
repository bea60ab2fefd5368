import { useMemo } from "react";
import type { ReviewHunk } from "../../api/types";
import { wordMarks } from "../../model/change";
import { languageOf } from "../../model/file-tree";
import type { Comment } from "../../model/review";
import { linesOf, rangeOf } from "../../model/review";
import { useColours } from "../../ui/useColours";
import type { CommentActs, Writing } from "./acts";
import { HunkLines } from "./HunkLines";

const COLOURED = 2000; // of a longer one the words and colours are left out

type Props = { hunk: ReviewHunk; path: string; here: boolean; line: number; split: boolean; most: number; writing: Writing; comments: readonly Comment[]; notes: CommentActs };

/** The lines of a hunk, up to so many, with their colours. */
export function HunkBody({ hunk: h, path, here, line, split, most, writing, comments, notes }: Props) {
  const lines = useMemo(() => linesOf(h), [h]);
  const rich = lines.length <= COLOURED;
  const marks = useMemo(() => wordMarks(rich ? lines : []), [lines, rich]);
  const tokens = useColours(lines, rich ? languageOf(path) : "");
  const shown = useMemo(() => (lines.length > most ? lines.slice(0, most) : lines), [lines, most]);
  return (
    <HunkLines lines={shown} tokens={tokens} marks={marks} split={split} here={here ? line : -1} name={`Changes of ${rangeOf(h) || path}`}
      writing={writing?.hunk === h.id ? writing.line : -1} comments={comments} notes={notes} onComment={(i) => notes.begin(h.id, i)} />
  );
}
