import { Kbd } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { SHORTCUTS } from "../frame/shortcuts";
import "./palette.css";

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  return (
    <Modal title="Keyboard shortcuts" scrolls onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map((s) => (
          <div key={s.does}>
            <dt>{s.does}</dt>
            <dd><Kbd>{s.keys}</Kbd></dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
