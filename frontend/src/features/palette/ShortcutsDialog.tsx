import { useStore } from "zustand";
import { Button, Kbd } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { allKinds } from "../../dock/panels";
import type { Keymap } from "../../model/keys/keymap";
import { fixedText, rowText } from "../../model/keys/rows";
import { keysStore } from "../../model/keys/store";
import type { Place } from "../../model/keys/table";
import { ACTIONS, FIXED, PLACES } from "../../model/keys/table";
import { openDialog } from "../../session/actions";
import { canQuit } from "../../session/leave";
import "./palette.css";

type Row = { keys: string; does: string };

/** The rows of a place: actions that have a key, keys that stay as they are, and what the kind of its panel adds. */
function rowsOf(map: Keymap, place: Place | "answers"): Row[] {
  const actions = ACTIONS.filter((a) => a.place === place && (a.id !== "page.quit" || canQuit())).map((a) => ({ keys: rowText(map, a.id), does: a.does }));
  const fixed = FIXED.filter((f) => f.place === place).map((f) => ({ keys: fixedText(f, map.platform), does: f.does }));
  const own = allKinds().flatMap(({ keys }) => (keys?.place === place ? keys.rows() : []));
  return [...actions.filter((r) => r.keys), ...fixed, ...own];
}

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const { map } = useStore(keysStore);
  const places = Object.entries(PLACES) as [Place, string][];
  return (
    <Modal title="Keyboard shortcuts" scrolls onClose={onClose} foot={<Button onClick={() => openDialog("keys")}>Change keys…</Button>}>
      <Rows rows={rowsOf(map, "page")} />
      <Part heading="Answers" rows={rowsOf(map, "answers")} />
      {places.filter(([place]) => place !== "page").map(([place, heading]) => <Part key={place} heading={heading} rows={rowsOf(map, place)} />)}
      {allKinds().map(({ kind, keys }) => keys && !(keys.place in PLACES) && <Part key={kind} heading={keys.place} rows={keys.rows()} />)}
    </Modal>
  );
}

function Part({ heading, rows }: { heading: string; rows: Row[] }) {
  return (
    <section>
      <h3 className="shortcuts-part">{heading}</h3>
      <Rows rows={rows} />
    </section>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <dl className="shortcuts">
      {rows.map((s) => (
        <div key={s.does}>
          <dt>{s.does}</dt>
          <dd><Kbd>{s.keys}</Kbd></dd>
        </div>
      ))}
    </dl>
  );
}
