import { memo } from "react";
import { CopyIcon } from "../../ui/CopyButton";
import { useHighlight } from "../../ui/useHighlight";

const SETTLE_MS = 120; // code that streams in is coloured once it has paused for so long

export const CodeBlock = memo(function CodeBlock({ code, lang }: { code: string; lang: string }) {
  const lines = useHighlight(code, lang, SETTLE_MS);
  return (
    <figure className="code">
      <figcaption>
        <span>{lang || "text"}</span>
        <CopyIcon text={code} name="Copy the code" />
      </figcaption>
      <pre className="selectable" tabIndex={0} aria-label={lang ? `Code, ${lang}` : "Code"}>
        <code>
          {lines
            ? lines.map((line, i) => (
                <span key={i}>
                  {line.map((t, j) => (
                    <span key={j} style={t.color ? { color: t.color } : undefined}>
                      {t.text}
                    </span>
                  ))}
                  {i < lines.length - 1 ? "\n" : ""}
                </span>
              ))
            : code}
        </code>
      </pre>
    </figure>
  );
});
