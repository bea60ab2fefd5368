import { useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure, RawSettings } from "../../api/types";
import { offsetOf } from "../../model/jsonc";
import { draftPlace, rawOvertaken, rawTyped, setRawDraft, settingsDraftsStore } from "../../model/settings-drafts";
import { patchOf } from "../../model/settings-patch";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { Diff } from "../../ui/Diff";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";
import { saveRaw } from "../../session/settings";
import type { Editing } from "./editing";
import { RawEditor } from "./RawEditor";
import { Problems } from "./Problems";
import { useCheck } from "./useCheck";

/** The whole text of the settings file, with its comments. Keys of models are hidden, and saving keeps them. */
export function RawPanel({ editing }: { editing: Editing }) {
  const { scope, channel, view, onChange } = editing;
  const place = draftPlace(scope, channel);
  const draft = useStore(settingsDraftsStore, (d) => d.raw[place]);
  const [raw, setRaw] = useState<RawSettings | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const load = useCallback(() => {
    session().api.settings.raw(scope, channel).then(
      (r) => {
        setRaw(r);
        setFailure(null);
      },
      (err: unknown) => setFailure(toFailure(err)),
    );
  }, [scope, channel]);
  useEffect(load, [load, view]); // the view is new when somebody has changed a file
  const text = draft?.text ?? raw?.text ?? "";
  const { problems, failure: unchecked } = useCheck(scope, channel, text, raw !== null);
  const theirs = rawOvertaken(draft, raw);

  const type = (next: string) => {
    if (raw) setRawDraft(place, rawTyped(draft, raw, next));
  };
  const save = async () => {
    if (!draft || draft.sent !== undefined) return;
    // A file whose text is the same by now differs in a hidden key alone, which stays as it is.
    const saved = await saveRaw(scope, channel, raw && raw.text === draft.base.text ? raw : draft.base);
    if (!saved) return load(); // what the file says by now
    setRaw(saved.raw);
    onChange(saved.view);
  };
  const goTo = (line: number, col: number) => {
    const at = offsetOf(text, line, col);
    box.current?.focus();
    box.current?.setSelectionRange(at, at);
  };

  return (
    <>
      <p className="setting-path">
        <label className="mono selectable" htmlFor="raw-settings">{visible(raw?.path ?? "")}</label>
        {raw && <CopyIcon text={raw.path} name="Copy the path" />}
      </p>
      {raw && <RawEditor id="raw-settings" box={box} text={text} problems={problems} titles={view.fields} onText={type} onSave={() => void save()} />}
      {theirs && draft && raw && (
        <div className="raw-theirs" role="alert">
          <p>The file has changed since you began. Your text is not saved. This is what yours would change in it now:</p>
          <Diff patch={patchOf(raw.text, draft.text)} name="Your text against the file" />
          <span className="field-foot">
            <Button look="small" onClick={() => setRawDraft(place, null)}>Take the file's text</Button>
            <Button look="small" onClick={() => setRawDraft(place, { text: draft.text, base: raw, failure: null })}>Go on with mine</Button>
          </span>
        </div>
      )}
      {draft?.failure && !theirs && <FailureCard failure={draft.failure} />}
      {(failure ?? unchecked) && <FailureCard failure={(failure ?? unchecked) as Failure}><Button look="small" onClick={load}>Read again</Button></FailureCard>}
      <Problems view={null} list={problems} onGo={goTo} read={raw !== null} />
      <div className="field-foot">
        {draft && <span className="field-unsaved">Not saved</span>}
        <Button disabled={!draft} onClick={() => setRawDraft(place, null)}>Discard</Button>
        <Button disabled={!draft || theirs || draft.sent !== undefined} onClick={() => void save()}>Save file</Button>
      </div>
    </>
  );
}
