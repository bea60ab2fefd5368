import type { Change } from "../../model/change";
import { CopyIcon } from "../../ui/CopyButton";
import { Diff } from "../../ui/Diff";
import { SafeText } from "../../ui/SafeText";
import { OpenIcon } from "./FileLink";

/** A tool's change of one file. named: the row above does not say which file. */
export function FileDiff({ change, path, named }: { change: Change; path: string; named: boolean }) {
  return (
    <figure className="diff" aria-label={`Change to ${path}`}>
      {named && (
        <figcaption>
          <span className="mono ellipsis">
            <SafeText text={path} />
          </span>
        </figcaption>
      )}
      <span className="output-copy"><OpenIcon path={change.path} /><CopyIcon text={change.patch} name="Copy the change" /></span>
      <Diff patch={change.patch} name={`Lines of ${path}`} path={path} numbered={change.numbered} fold />
    </figure>
  );
}
