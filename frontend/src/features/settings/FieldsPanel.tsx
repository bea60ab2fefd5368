import { useMemo, useState } from "react";
import { FieldRow } from "./FieldRow";
import type { Editing } from "./editing";

/** Every field with its value, the value's origin, and a way to change it. */
export function FieldsPanel({ editing }: { editing: Editing }) {
  const [query, setQuery] = useState("");
  const [set, setSet] = useState(false);
  const fields = useMemo(() => {
    const q = query.trim().toLowerCase();
    return (editing.view.fields ?? []).filter(
      (f) => (!set || f.origin.layer !== "built-in") && (q === "" || `${f.name} ${f.doc}`.toLowerCase().includes(q)),
    );
  }, [editing.view.fields, query, set]);
  return (
    <>
      <div className="settings-search">
        <input className="field" type="search" placeholder="Search settings" aria-label="Search settings" value={query} onChange={(e) => setQuery(e.target.value)} />
        <label className="tick-box">
          <input type="checkbox" checked={set} onChange={(e) => setSet(e.target.checked)} />
          Only changed settings
        </label>
      </div>
      {fields.length === 0 && <p className="hint">No setting by that name.</p>}
      <ul className="fields">
        {fields.map((f) => (
          <FieldRow key={`${editing.scope}/${f.name}`} field={f} editing={editing} />
        ))}
      </ul>
    </>
  );
}
