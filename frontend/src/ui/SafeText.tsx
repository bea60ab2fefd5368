import { memo } from "react";
import { lineSegments } from "../model/gate-text";
import type { Segment } from "../model/text";
import { segments } from "../model/text";

/** Text from a container, with hiding and reordering characters shown by name. */
export const SafeText = memo(function SafeText({ text }: { text: string }) {
  return <Parts parts={segments(text)} />;
});

/** A path or a command of a container: line ends, colour codes and blanks at its ends are named too. */
export const SafeLine = memo(function SafeLine({ text }: { text: string }) {
  return <Parts parts={lineSegments(text)} />;
});

function Parts({ parts }: { parts: Segment[] }) {
  if (parts.length <= 1 && !parts[0]?.hidden) return <bdi>{parts[0]?.text ?? ""}</bdi>;
  return (
    <bdi>
      {parts.map((p, i) => (p.hidden ? <span key={i} className="hidden-char">{p.text}</span> : p.text))}
    </bdi>
  );
}
