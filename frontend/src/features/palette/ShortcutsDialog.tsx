import { dockRows } from "../../model/dock/keys";
import { KEY_ROWS } from "../../model/terminals/keys";
import { Kbd } from "../../ui/Button";
import { isMac, PLATFORM } from "../../ui/keys";
import { Modal } from "../../ui/Modal";
import { spaced } from "../../dock/hints";
import { QUIT_KEYS, SHORTCUTS } from "../../session/shortcuts";
import { canQuit } from "../../session/leave";
import "./palette.css";

type Row = { keys: string; does: string };

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const terminal = KEY_ROWS.filter((r) => r.action !== "quit" || canQuit()).map((r) => ({ keys: spaced(r[PLATFORM][0] ?? ""), does: r.does })).filter((r) => r.keys);
  return (
    <Modal title="Keyboard shortcuts" scrolls onClose={onClose}>
      <Rows rows={canQuit() ? [...SHORTCUTS, { keys: QUIT_KEYS, does: "Quit Loop" }] : SHORTCUTS} />
      <h3 className="shortcuts-part">Panes</h3>
      <Rows rows={dockRows(isMac)} />
      <h3 className="shortcuts-part">In a terminal</h3>
      <Rows rows={terminal} />
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
