import { useState } from "react";
import { plural } from "../../model/format";
import { CopyIcon } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";

const FOLD_LINES = 12;
const FOLD_CHARS = 2400; // characters; even a few lines can be long

/** Monospaced text. A long one shows its first twelve lines until the person unfolds it. */
export function Output({ text, name, error, truncated }: { text: string; name: string; error?: boolean; truncated?: boolean }) {
  const [all, setAll] = useState(false);
  const body = text.replace(/\n+$/, "");
  const lines = body.split("\n");
  const long = lines.length > FOLD_LINES + 2 || body.length > FOLD_CHARS * 1.5;
  const shown = long && !all ? lines.slice(0, FOLD_LINES).join("\n").slice(0, FOLD_CHARS) : body;
  return (
    <figure className={`output ${error ? "error" : ""}`}>
      <figcaption>
        <span className="ellipsis">{name}</span>
        {body && <CopyIcon text={text} name={`Copy ${name.toLowerCase()}`} />}
      </figcaption>
      {body ? (
        <pre className="selectable">
          <SafeText text={shown} />
        </pre>
      ) : (
        <p className="body-note">Nothing was printed.</p>
      )}
      {(long || truncated) && (
        <div className="output-foot">
          {long && (
            <button type="button" className="link small" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? "Show less" : `Show all ${plural(lines.length, "line")}`}
            </button>
          )}
          {truncated && (!long || all) && <span className="muted">Cut here: the rest was not kept.</span>}
        </div>
      )}
    </figure>
  );
}
