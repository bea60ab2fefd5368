import { Modal } from "../../ui/Modal";
import { KeysPanel } from "./KeysPanel";

/** The keys alone, from the palette and the list of shortcuts. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  return (
    <Modal title="Keys" wide className="settings" onClose={onClose} description="Every key that can be changed, by the place where it counts">
      <KeysPanel />
    </Modal>
  );
}
