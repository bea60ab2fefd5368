import type { SettingsField } from "../../api/types";
import { openDialog } from "../../session/actions";
import { Button } from "../../ui/Button";
import type { Editing } from "./editing";
import { FieldRow } from "./FieldRow";
import { Look } from "./Look";
import { ModelAccess } from "./ModelAccess";

const KEYS = ["anthropic_api_key", "claude_code_oauth_token"];

/** Settings in the order given. Keys and the theme have a part of their own, where it stands. groups: their names, where they are shown. */
export function FieldList({ fields, editing, groups }: { fields: SettingsField[]; editing: Editing; groups?: Map<string, string> }) {
  const global = editing.scope === "global";
  const key = fields.find((f) => KEYS.includes(f.name));
  return (
    <ul className="fields">
      {fields.map((f) => {
        if (global && KEYS.includes(f.name)) return f === key ? <li key={f.name} className="field-part"><ModelAccess /></li> : null;
        if (global && f.name === "theme") return <li key={f.name} className="field-part"><Look /></li>;
        return (
          <FieldRow key={`${editing.scope}/${f.name}`} field={f} editing={editing} {...(groups ? { group: groups.get(f.group) ?? "" } : {})}>
            {f.name === "claude_setup" && <p className="field-more"><Button look="small" onClick={() => openDialog("setup")}>Show what there is…</Button></p>}
            {f.name === "keys" && <p className="field-more"><Button look="small" onClick={() => openDialog("keys")}>Change keys…</Button></p>}
          </FieldRow>
        );
      })}
    </ul>
  );
}
