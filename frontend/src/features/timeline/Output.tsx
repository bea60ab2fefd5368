import { ListCollapse, UnfoldVertical } from "lucide-react";
import type { CSSProperties } from "react";
import { memo, useMemo, useState } from "react";
import { plural } from "../../model/format";
import type { Look, Piece } from "../../model/timeline/ansi";
import { outputText, outputView } from "../../model/timeline/output";
import { KeyOf } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { LinkedText } from "./FileLink";
import "./output.css";

type Props = { text: string; name: string; error?: boolean; truncated?: boolean };

/** Monospaced text with a terminal's colours. A long one shows its first and last lines until the person wants all. */
export function Output({ text, name, error, truncated }: Props) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => outputText(text), [text]);
  const v = outputView(lines, all);
  const empty = text.trim() === "";
  return (
    <figure className={`output ${error ? "error" : ""}`} aria-label={name}>
      {!empty && <span className="output-copy"><CopyIcon text={text} name={`Copy ${name.toLowerCase()}`} /></span>}
      {empty ? <p className="body-note">Nothing was printed.</p> : <Lines lines={v.head} />}
      {v.hidden > 0 && !all && <More does={`${v.hidden.toLocaleString("en")} more lines`} act="show all" onClick={() => setAll(true)} />}
      {v.hidden > 0 && all && <p className="output-left">{plural(v.hidden, "line")} left out here. Copying takes them all.</p>}
      {v.tail.length > 0 && <Lines lines={v.tail} />}
      {v.folds && v.hidden === 0 && !all && <More does="Long lines are cut" act="show all" onClick={() => setAll(true)} />}
      {v.folds && all && <More does="" act="show less" onClick={() => setAll(false)} less />}
      {truncated && <p className="output-left">Cut here: the rest was not kept.</p>}
    </figure>
  );
}

/** The row that stands for hidden lines. The key “a” on the item presses it. */
export function More({ does, act, onClick, less = false }: { does: string; act: string; onClick(): void; less?: boolean }) {
  const Icon = less ? ListCollapse : UnfoldVertical;
  return (
    <button type="button" className="output-more" data-more aria-expanded={less} onClick={onClick}>
      <Icon size={13} aria-hidden />
      {does && <span>{does}</span>}
      <span className="output-act"><span className="output-key"><KeyOf of="timeline.all-lines" /></span> {act}</span>
    </button>
  );
}

const Lines = memo(function Lines({ lines }: { lines: Piece[][] }) {
  return (
    <pre className="selectable">
      {lines.map((l, i) => (
        <span key={i}>
          {l.map((p, j) => <Part key={j} piece={p} />)}
          {i < lines.length - 1 ? "\n" : ""}
        </span>
      ))}
    </pre>
  );
});

function Part({ piece }: { piece: Piece }) {
  const style = styleOf(piece.look);
  return style ? <span style={style}><LinkedText text={piece.text} /></span> : <LinkedText text={piece.text} />;
}

// Black on the dark page would be hidden text, so it is grey.
const ink = (n: number) => (n === 0 ? "var(--ansi-8)" : `var(--ansi-${n})`);

function styleOf(l: Look): CSSProperties | undefined {
  if (l.fg < 0 && l.bg < 0 && !l.bold && !l.dim && !l.italic && !l.underline && !l.inverse) return undefined;
  const style: CSSProperties = {};
  if (l.inverse) {
    style.color = "var(--bg-2)";
    style.background = l.fg < 0 ? "var(--fg-2)" : ink(l.fg);
  } else {
    if (l.fg >= 0) style.color = ink(l.fg);
    else if (l.dim) style.color = "var(--fg-3)";
    if (l.bg >= 0) style.background = `color-mix(in srgb, ${ink(l.bg)} 16%, transparent)`;
  }
  if (l.bold) style.fontWeight = 700;
  if (l.italic) style.fontStyle = "italic";
  if (l.underline) style.textDecoration = "underline";
  return style;
}
