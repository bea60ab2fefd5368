import { useStore } from "zustand";
import type { Panel } from "../../model/dock/layout";
import { dockUi } from "../../model/dock/store";
import { Button } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { closePane, endAndClose } from "./dock";
import { handles } from "./panes";
import { useFace } from "./Tab";

/** Asked only where something may be lost. */
export function CloseDialog({ panel }: { panel: Panel }) {
  const face = useFace(panel);
  const open = useStore(dockUi, (u) => u.closing === panel.id);
  const done = (f?: (id: string) => void) => {
    dockUi.setState({ closing: "" });
    if (f) setTimeout(() => f(panel.id));
  };
  if (!open) return null;
  const busy = handles.get(panel.id)?.busy();
  return (
    <Modal title="Close the terminal" onClose={() => done()} foot={
      <>
        <Button look="danger" onClick={() => done(endAndClose)}>End it</Button>
        <span className="grow" />
        <Button onClick={() => done(closePane)}>Close the pane only</Button>
        <Button onClick={() => done()} autoFocus>Keep it</Button>
      </>
    }>
      <p>
        {busy ? "A program is running in" : "A program may be running in"} “<SafeText text={face.title} />”
        {panel.kind === "terminal" && panel.target === "host" ? " on this computer" : ""}. Ending it stops everything that was started there.
      </p>
      <p className="hint">Without its pane the program goes on; the plus button of a tab strip lists it.</p>
    </Modal>
  );
}
