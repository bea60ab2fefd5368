import { useState } from "react";
import { Button } from "../../../ui/Button";
import { Modal } from "../../../ui/Modal";
import { rememberModel } from "../../../session/settings";

type Props = { scope: "prompt" | "channel"; now: string; onClose(): void; onChoose(model: string): void };

/** Takes the name of a model that the menu does not have. */
export function OtherModel({ scope, now, onClose, onChoose }: Props) {
  const [name, setName] = useState(now);
  const word = name.trim();
  const ok = !/\s|^-/u.test(word);
  return (
    <Modal title={scope === "prompt" ? "Model for this prompt" : "Model for the channel"} onClose={onClose} foot={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" form="other-model" disabled={!ok}>Choose</Button>
      </>
    }>
      <form id="other-model" onSubmit={(e) => { e.preventDefault(); if (ok) { onChoose(word); rememberModel(word); onClose(); } }}>
        <label className="label" htmlFor="other-model-name">Name</label>
        <input id="other-model-name" className="field mono" value={name} maxLength={200} spellCheck={false} autoComplete="off" onChange={(e) => setName(e.target.value)} />
        <p className="hint">{ok ? "As Claude Code knows it: a short name, or a model's full one. Without a name it is as before." : "A name is one word and begins with no hyphen."}</p>
      </form>
    </Modal>
  );
}
