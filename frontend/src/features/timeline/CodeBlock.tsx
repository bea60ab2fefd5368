import { memo, useEffect, useState } from "react";
import { CopyIcon } from "../../ui/CopyButton";
import { highlight } from "./highlight";
import type { Token } from "./highlight";

const SETTLE_MS = 120; // code that streams in is coloured once it has paused for so long

export const CodeBlock = memo(function CodeBlock({ code, lang }: { code: string; lang: string }) {
  const [done, setDone] = useState<{ code: string; lines: Token[][] } | null>(null);
  useEffect(() => {
    if (!lang) return;
    let stale = false;
    const t = setTimeout(() => {
      void highlight(code, lang).then((lines) => {
        if (!stale && lines) setDone({ code, lines });
      });
    }, SETTLE_MS);
    return () => {
      stale = true;
      clearTimeout(t);
    };
  }, [code, lang]);
  const lines = done?.code === code ? done.lines : null;
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
