import { History } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { SettingsRevision, SettingsRevisionText } from "../../api/types";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { Diff } from "../../ui/Diff";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";
import { restoreRevision } from "../../session/settings";
import { exact, when } from "../../model/clock";
import type { Editing } from "./editing";

const SOURCES: Record<string, string> = { settings: "changed here", external: "changed in an editor", initial: "as it was found" };

/** Earlier texts of the settings file, each with a button that brings it back. */
export function HistoryPanel({ editing }: { editing: Editing }) {
  const { scope, channel } = editing;
  const [list, setList] = useState<SettingsRevision[] | null>(null);
  const [open, setOpen] = useState<SettingsRevisionText | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    session().api.settings.history(scope, channel).then((l) => setList(l ?? []), (err: unknown) => setFailure(toFailure(err)));
  }, [scope, channel]);
  useEffect(load, [load]);
  const look = (id: string) => {
    if (open?.id === id) setOpen(null);
    else session().api.settings.revision(id).then(setOpen, (err: unknown) => setFailure(toFailure(err)));
  };
  const restore = (id: string) => {
    restoreRevision(id, channel).then(
      (v) => {
        editing.onChange(v);
        setOpen(null);
        load();
      },
      (err: unknown) => setFailure(toFailure(err)),
    );
  };
  if (list?.length === 0) {
    return (
      <p className="hint">
        <History size={14} aria-hidden /> Nothing was changed yet. The last 200 texts of this file will be kept here.
      </p>
    );
  }
  return (
    <>
      {failure && <FailureCard failure={failure} />}
      {!list && !failure && <div className="skeleton settings-skeleton" aria-hidden="true" />}
      <ul className="revisions">
        {(list ?? []).map((r, i) => {
          const at = Date.parse(r.at);
          return (
            <li key={r.id}>
              <div className="field-head">
                <button type="button" className="link" aria-expanded={open?.id === r.id} onClick={() => look(r.id)} title={exact(at)}>
                  {when(at)}
                </button>
                <span className="hint">
                  {SOURCES[r.source] ?? (r.source.startsWith("restore:") ? "restored" : visible(r.source))} <span className="tnum">+{r.added} −{r.removed}</span>
                </span>
                {i > 0 ? <Button look="small" aria-label={`Restore the file as of ${exact(at)}`} onClick={() => restore(r.id)}>Restore</Button> : <span className="state">as it is now</span>}
              </div>
              {open?.id === r.id && <Diff patch={open.diff || open.text} name="What this revision changed" />}
            </li>
          );
        })}
      </ul>
    </>
  );
}
