import { asOneLine, preview } from "../../model/terminals/paste";
import { Button } from "../../ui/Button";
import { Modal } from "../../ui/Modal";

const WHY = "This program may not take a paste as a whole. It may run each line as soon as the line arrives.";

/** Asks before several lines are pasted into a program that would run each as it comes. */
export function PasteDialog({ text, onPaste }: { text: string; onPaste(text: string | null): void }) {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return (
    <Modal
      title={`Paste ${lines} lines?`} scrolls
      description={WHY}
      onClose={() => onPaste(null)}
      foot={
        <>
          <Button onClick={() => onPaste(null)}>Cancel</Button>
          <Button onClick={() => onPaste(asOneLine(text))}>Paste as one line</Button>
          <Button onClick={() => onPaste(text)}>Paste</Button>
        </>
      }
    >
      <p className="hint">{WHY}</p>
      <pre className="paste-preview">{preview(text)}</pre>
    </Modal>
  );
}
