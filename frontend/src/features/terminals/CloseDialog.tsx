import { useStore } from "zustand";
import { closePane } from "../../dock/dock";
import { useFace } from "../../dock/panels";
import type { Panel } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import type { TerminalData } from "../../model/terminals/panel";
import { isIdle } from "../../model/terminals/sessions";
import { Button } from "../../ui/Button";
import { front } from "../../ui/layer";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { endAndClose } from "./actions";
import { handles } from "./panes";

/** Asks before a terminal is closed, and only where something may be lost. */
export function CloseDialog({ panel }: { panel: Panel<TerminalData> }) {
  const face = useFace(panel);
  const info = useStore(sessionsStore, (s) => s.byId[panel.data.session]);
  const open = useStore(dockUi, (u) => u.closing === panel.id);
  const done = (f?: (id: string) => void) => {
    if (f) front.after(() => f(panel.id));
    dockUi.setState({ closing: "" });
  };
  if (!open) return null;
  const command = info?.shell === "running" ? info.command : "";
  const idle = isIdle(info, handles.get(panel.id)?.busy() ?? null);
  return (
    <Modal title="Close the terminal" onClose={() => done()} foot={
      <>
        <Button look="danger" onClick={() => done(endAndClose)}>End it</Button>
        <span className="grow" />
        <Button onClick={() => done(closePane)}>Close the pane only</Button>
        <Button onClick={() => done()} data-first>Keep it</Button>
      </>
    }>
      <p>
        {command ? <>“<SafeText text={command.length > 80 ? `${command.slice(0, 80)}…` : command} />” is running in</> : idle === false ? "A program is running in" : "A program may be running in"} “<SafeText text={face.title} />”
        {panel.data.target === "host" ? " on this computer" : ""}. Ending it stops everything that was started there.
      </p>
      <p className="hint">Without its pane the program goes on; the plus button of a tab strip lists it.</p>
    </Modal>
  );
}
