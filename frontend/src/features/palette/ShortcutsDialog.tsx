import { Fragment } from "react";
import { dockRows } from "../../model/dock/keys";
import { Kbd } from "../../ui/Button";
import { isMac } from "../../ui/keys";
import { Modal } from "../../ui/Modal";
import { allKinds } from "../../dock/panels";
import { QUIT_KEYS, SHORTCUTS } from "../../session/shortcuts";
import { canQuit } from "../../session/leave";
import "./palette.css";

type Row = { keys: string; does: string };

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  return (
    <Modal title="Keyboard shortcuts" scrolls onClose={onClose}>
      <Rows rows={canQuit() ? [...SHORTCUTS, { keys: QUIT_KEYS, does: "Quit Loop" }] : SHORTCUTS} />
      <h3 className="shortcuts-part">Panes</h3>
      <Rows rows={dockRows(isMac)} />
      {allKinds().map(({ kind, keys }) => keys && (
        <Fragment key={kind}>
          <h3 className="shortcuts-part">{keys.heading}</h3>
          <Rows rows={keys.rows()} />
        </Fragment>
      ))}
    </Modal>
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
