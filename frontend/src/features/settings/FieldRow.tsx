import { RotateCcw } from "lucide-react";
import { useId, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { SettingsField } from "../../api/types";
import { read, shown } from "../../model/settings";
import { visible } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";
import type { Editing } from "./editing";

const RULES: Record<string, string> = {
  tighten: "A project may only tighten this by itself.",
  trust: "In a project's file this waits for your approval.",
  never: "This holds for all projects; a project's file cannot set it.",
};

export function FieldRow({ field: f, editing }: { field: SettingsField; editing: Editing }) {
  const [text, setText] = useState<string | null>(null); // null: the field shows the value in force
  const [failure, setFailure] = useState<Failure | null>(null);
  const [wrong, setWrong] = useState("");
  const id = useId();
  const barred = f.secret || (editing.scope !== "global" && f.project === "never");
  const here = (f.layers ?? []).some((l) => l.layer === editing.scope);
  const api = session().api.settings;

  function run(what: Promise<Editing["view"]>) {
    setFailure(null);
    what.then(
      (v) => {
        setText(null);
        editing.onChange(v);
      },
      (err: unknown) => setFailure(toFailure(err)),
    );
  }
  function save(value: unknown) {
    run(api.set(editing.scope, editing.channel, f.name, value));
  }
  function submit() {
    const r = read(f, text ?? "");
    if ("wrong" in r) setWrong(r.wrong);
    else save(r.value);
  }

  return (
    <li className="field-row">
      <div className="field-head">
        <label htmlFor={id} className="mono">{f.name}</label>
        <span className="origin" title={f.origin.path}>{origin(f)}</span>
        {here && !f.secret && (
          <IconButton small name={`Reset ${f.name}: take it out of this file`} onClick={() => run(api.unset(editing.scope, editing.channel, f.name))}>
            <RotateCcw size={13} />
          </IconButton>
        )}
      </div>
      <p className="hint" id={`${id}-doc`}>
        {f.doc} {f.unit ? `In ${f.unit}.` : ""} {f.restart ? "Counts after a restart." : ""} {editing.channel ? (RULES[f.project] ?? "") : ""}
      </p>
      {f.secret ? (
        <p className="hint">{f.value ? "Set in the file, and not shown here. Under General you can move it out of the file." : "Not set in the file."}</p>
      ) : (
        <Control f={f} id={id} text={text ?? shown(f)} disabled={barred} onText={(t) => { setText(t); setWrong(""); }} onSave={save} />
      )}
      {text !== null && text !== shown(f) && (
        <div className="field-foot">
          <Button look="small" onClick={() => { setText(null); setWrong(""); setFailure(null); }}>Discard</Button>
          <Button look="small" onClick={submit}>Save</Button>
        </div>
      )}
      {wrong && <p className="hint bad" role="alert">{wrong}</p>}
      {(f.layers ?? []).filter((l) => !l.in_force).map((l) => (
        <p key={l.layer} className="hint bad">
          Line {l.line} of the {l.layer} file sets another value; it is not in force.
        </p>
      ))}
      {failure && <FailureCard failure={failure} />}
    </li>
  );
}

function origin(f: SettingsField): string {
  if (f.origin.layer === "built-in") return "default";
  return `${visible(f.origin.layer)}${f.origin.line ? ` line ${f.origin.line}` : ""}`;
}

type ControlProps = { f: SettingsField; id: string; text: string; disabled: boolean; onText(t: string): void; onSave(v: unknown): void };

function Control({ f, id, text, disabled, onText, onSave }: ControlProps) {
  const described = { id, disabled, "aria-describedby": `${id}-doc` };
  if (f.kind === "boolean") {
    return (
      <label className="tick-box">
        <input type="checkbox" {...described} checked={f.value === true} onChange={(e) => onSave(e.target.checked)} /> {f.value === true ? "Yes" : "No"}
      </label>
    );
  }
  if (f.one_of?.length) {
    return (
      <select className="field" {...described} value={text} onChange={(e) => onSave(e.target.value)}>
        {f.one_of.map((o) => (
          <option key={o} value={o}>{o === "" ? "not set" : o}</option>
        ))}
      </select>
    );
  }
  if (f.kind === "list" || f.kind === "object") {
    const rows = Math.min(8, Math.max(2, text.split("\n").length));
    return <textarea className="field mono" rows={rows} spellCheck={false} placeholder={f.kind === "list" ? "one per line" : "{ }"} {...described} value={text} onChange={(e) => onText(e.target.value)} />;
  }
  const number = f.kind === "integer" || f.kind === "number";
  return <input className="field mono" spellCheck={false} autoComplete="off" inputMode={number ? "decimal" : "text"} placeholder={String(f.default ?? "")} {...described} value={text} onChange={(e) => onText(e.target.value)} />;
}
