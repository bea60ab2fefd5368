import { useCallback, useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { RawSettings } from "../../api/types";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";
import type { Editing } from "./editing";
import { Problems } from "./Problems";

/** The whole text of the settings file, with its comments. Keys of models are hidden, and saving keeps them. */
export function RawPanel({ editing }: { editing: Editing }) {
  const { scope, channel } = editing;
  const [raw, setRaw] = useState<RawSettings | null>(null);
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    session().api.settings.raw(scope, channel).then(
      (r) => {
        setRaw(r);
        setText(r.text);
        setFailure(null);
      },
      (err: unknown) => setFailure(toFailure(err)),
    );
  }, [scope, channel]);
  useEffect(load, [load]);
  const save = () => {
    session().api.settings.setRaw(scope, channel, text, raw?.sha256 ?? "").then(
      (v) => {
        editing.onChange(v);
        load();
      },
      (err: unknown) => setFailure(toFailure(err)),
    );
  };
  return (
    <>
      <label className="label" htmlFor="raw-settings">
        <span className="mono">{visible(raw?.path ?? "")}</span>
      </label>
      <textarea id="raw-settings" className="field mono raw" rows={18} spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} />
      {failure && <FailureCard failure={failure} />}
      <Problems view={editing.view} />
      <div className="field-foot">
        <Button onClick={load}>Read again</Button>
        <Button disabled={raw === null || text === raw.text} onClick={save}>Save file</Button>
      </div>
    </>
  );
}
