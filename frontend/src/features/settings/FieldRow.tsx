import { CircleAlert, RotateCcw } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { useId } from "react";
import { useStore } from "zustand";
import type { SettingsField } from "../../api/types";
import { modelChoices } from "../../model/models";
import { bounds, isChanged, shown, typed } from "../../model/settings";
import { fieldKey, overtaken, saidIn, setFieldDraft, settingsDraftsStore } from "../../model/settings-drafts";
import { oneLine, visible } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { Combobox } from "../../ui/Combobox";
import { SafeText } from "../../ui/SafeText";
import { rebase, resetField, saveField, typedModels, typeInto } from "../../session/settings";
import type { Editing } from "./editing";
import { SCOPES } from "./editing";

const RULES: Record<string, string> = {
  tighten: "A project may only tighten this by itself.",
  trust: "In a project's file this waits for your approval.",
  never: "This holds for all projects; a project's file cannot set it.",
};

/** One setting: its name, a field for it, and where its value comes from. What is typed stays until it is saved or discarded. */
export function FieldRow({ field: f, editing, group, children }: { field: SettingsField; editing: Editing; group?: string; children?: ReactNode }) {
  const { scope, channel, onChange } = editing;
  const key = fieldKey(scope, channel, f.name);
  const draft = useStore(settingsDraftsStore, (d) => d.fields[key]);
  const id = useId();
  const barred = f.secret || (scope !== "global" && f.project === "never");
  const here = (f.layers ?? []).some((l) => l.layer === scope);
  const meanwhile = overtaken(f, scope, draft);
  const failure = draft?.failure;
  const failed = failure && !(meanwhile && failure.code === "conflict") ? failure : null;

  const drop = () => setFieldDraft(key, null);
  const type = (t: string) => typeInto(f, scope, channel, t);
  const save = () => void saveField(f, scope, channel).then((v) => v && onChange(v));
  const choose = (t: string) => {
    type(t);
    save();
  };
  const reset = () => void resetField(f, scope, channel).then((v) => v && onChange(v));

  return (
    <li className={`field-row ${isChanged(f) ? "changed" : ""}`} data-field={f.name}>
      <div className="field-name">
        <label htmlFor={id}>{f.title}</label>
        <span className="mono field-key">{f.name}</span>
        {group && <span className="field-group">{group}</span>}
      </div>
      <div className="field-value">
        {f.secret ? (
          <p className="hint">{f.value ? "Set in the file, and not shown here. Under Model access you can move it out of the file." : "Not set in the file."}</p>
        ) : (
          <Control
            f={f} id={id} text={draft?.text ?? shown(f)} dirty={draft !== undefined} disabled={barred} invalid={Boolean(failed)} described={`${id}-doc${failed ? ` ${id}-wrong` : ""}`}
            onText={type} onChoose={choose} onSave={save} onDrop={drop}
          />
        )}
        {failed && (
          <p className="field-wrong" role="alert" id={`${id}-wrong`}>
            <CircleAlert size={13} aria-hidden /> <span><SafeText text={failed.cause} />{failed.remedy ? <> <SafeText text={failed.remedy} /></> : null}</span>
          </p>
        )}
        {meanwhile && (
          <div className="field-meanwhile" role="alert">
            <p>{here ? <>Meanwhile {SCOPES[scope].toLowerCase()} got <b className="mono">{brief(f, saidIn(f, scope))}</b>.</> : "Meanwhile it was taken out of the file."} Yours is not saved.</p>
            <span className="field-foot">
              <Button look="small" onClick={drop}>Take that</Button>
              <Button look="small" onClick={() => { rebase(f, scope, channel); save(); }}>Save mine</Button>
            </span>
          </div>
        )}
        {draft && !meanwhile && (
          <span className="field-foot">
            <span className="field-unsaved">Not saved</span>
            <Button look="small" aria-label={`Discard what was typed for ${f.title}`} onClick={drop}>Discard</Button>
            <Button look="small" aria-label={`Save ${f.title}`} onClick={save}>Save</Button>
          </span>
        )}
        <p className="hint" id={`${id}-doc`}>
          {f.doc} {f.unit ? `In ${f.unit}${bounds(f) ? `, ${bounds(f)}` : ""}.` : bounds(f) ? `${bounds(f)}.` : ""} {f.restart ? "Counts after a restart." : ""} {channel ? (RULES[f.project] ?? "") : ""}
        </p>
        {children}
        {(f.layers ?? []).filter((l) => !l.in_force).map((l) => (
          <p key={l.layer} className="hint bad">Line {l.line} of the {l.layer} file sets another value; it is not in force.</p>
        ))}
      </div>
      <div className="field-from">
        <span className="origin" title={f.origin.path}>{origin(f)}</span>
        {here && !f.secret && (
          <IconButton small name={`Reset ${f.title}: take it out of this file`} onClick={reset}>
            <RotateCcw size={13} />
          </IconButton>
        )}
      </div>
    </li>
  );
}

const MOST = 60;

function brief(f: SettingsField, value: unknown): string {
  const text = oneLine(visible(typed(f, value))) || "nothing";
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

function origin(f: SettingsField): string {
  if (f.origin.layer === "built-in") return "default";
  return `${visible(f.origin.layer)}${f.origin.line ? ` line ${f.origin.line}` : ""}`;
}

type ControlProps = {
  f: SettingsField; id: string; text: string; dirty: boolean; disabled: boolean; invalid: boolean; described: string;
  onText(t: string): void; onChoose(t: string): void; onSave(): void; onDrop(): void;
};

function Control({ f, id, text, dirty, disabled, invalid, described, onText, onChoose, onSave, onDrop }: ControlProps) {
  const more = { id, disabled, "aria-describedby": described, "aria-invalid": invalid || undefined };
  const keys = (many: boolean) => (e: KeyboardEvent) => {
    const save = e.key === "Enter" && (many ? e.ctrlKey || e.metaKey : !e.shiftKey);
    if (!dirty || !(save || e.key === "Escape") || e.nativeEvent.isComposing) return;
    e.preventDefault();
    if (save) onSave();
    else onDrop();
  };
  const escape = dirty ? { "data-escape": "" } : {};
  if (f.kind === "boolean") {
    return (
      <label className="tick-box">
        <input type="checkbox" {...more} checked={text === "true"} onChange={(e) => onChoose(String(e.target.checked))} /> {text === "true" ? "Yes" : "No"}
      </label>
    );
  }
  if (f.one_of?.length) {
    const odd = f.one_of.includes(text) ? [] : [text];
    return (
      <select className="field" {...more} value={text} onChange={(e) => onChoose(e.target.value)}>
        {[...f.one_of, ...odd].map((o) => (
          <option key={o} value={o}>{o === "" ? "not set" : o}</option>
        ))}
      </select>
    );
  }
  if (f.name === "claude_model") {
    const options = modelChoices(typedModels()).map((m) => ({ label: m.name, says: m.says }));
    return (
      <div {...escape}>
        <Combobox id={id} name={f.title} value={text} options={options} placeholder="as the CLI chooses" disabled={disabled} invalid={invalid} describedBy={described} onText={onText} onChoose={onChoose} onKey={keys(false)} />
      </div>
    );
  }
  if (f.kind === "list" || f.kind === "object") {
    const rows = Math.min(8, Math.max(2, text.split("\n").length));
    return <textarea className="field mono" rows={rows} spellCheck={false} placeholder={f.kind === "list" ? "one per line" : "{ }"} {...more} {...escape} value={text} onChange={(e) => onText(e.target.value)} onKeyDown={keys(true)} />;
  }
  const number = f.kind === "integer" || f.kind === "number";
  return <input className={`field mono ${number ? "field-number" : ""}`} spellCheck={false} autoComplete="off" inputMode={number ? "decimal" : "text"} placeholder={String(f.default ?? "")} {...more} {...escape} value={text} onChange={(e) => onText(e.target.value)} onKeyDown={keys(false)} />;
}
