import { memo } from "react";
import { segments } from "../model/text";

/** Text from a container, with hiding and reordering characters shown by name. */
export const SafeText = memo(function SafeText({ text }: { text: string }) {
  const parts = segments(text);
  if (parts.length <= 1 && !parts[0]?.hidden) return <bdi>{parts[0]?.text ?? ""}</bdi>;
  return (
    <bdi>
      {parts.map((p, i) => (p.hidden ? <span key={i} className="hidden-char">{p.text}</span> : p.text))}
    </bdi>
  );
});
