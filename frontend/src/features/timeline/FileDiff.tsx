import type { FileChange } from "../../api/types";
import { CopyIcon } from "../../ui/CopyButton";
import { Diff } from "../../ui/Diff";
import { SafeText } from "../../ui/SafeText";

/** A tool's change of one file. */
export function FileDiff({ change, path }: { change: FileChange; path: string }) {
  return (
    <figure className="diff">
      <figcaption>
        <span className="mono ellipsis">
          <SafeText text={path} />
        </span>
        <span className="muted">{change.kind === "create" ? "new file" : "changed"}</span>
        <span className="marks tnum">
          {change.added > 0 && <span className="plus">+{change.added}</span>}
          {change.removed > 0 && <span className="minus">−{change.removed}</span>}
        </span>
        {change.patch && <CopyIcon text={change.patch} name="Copy the change" />}
      </figcaption>
      {change.patch && <Diff patch={change.patch} name={`Change to ${path}`} fold />}
    </figure>
  );
}
