import type { Token } from "../code/highlight";
import { markedParts } from "../code/marked";
import type { Range } from "../code/marked";
import { SafeText } from "./SafeText";

const NONE: readonly Range[] = [];

/** A line of code in its colours, as far as they are known. markedAs: the class of its marked places. */
export function CodeText({ text, tokens, marks = NONE, markedAs }: { text: string; tokens: Token[] | undefined; marks?: readonly Range[] | undefined; markedAs?: string }) {
  if (!tokens && marks.length === 0) return <SafeText text={text} />;
  return markedParts(text, tokens, marks).map((p, i) => (
    <span key={i} className={p.marked ? markedAs : undefined} style={p.color ? { color: p.color } : undefined}><SafeText text={p.text} /></span>
  ));
}
