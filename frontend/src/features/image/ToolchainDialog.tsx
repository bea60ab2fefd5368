import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure, ProjectToolchain } from "../../api/types";
import { frameStore, toast, viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import { hasChange, toDecide, toolchainWord } from "../../model/toolchain";
import { decideToolchain, readToolchain } from "../../session/toolchain";
import { CHANGED, useDeciding } from "../../ui/approval/useInert";
import { Button } from "../../ui/Button";
import { Diff } from "../../ui/Diff";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import "./toolchain.css";

/** Shows all that a project's own image is made of, and asks whether it is built. */
export function ToolchainDialog({ onClose }: { onClose(): void }) {
  const id = useStore(viewStore, (v) => v.dialogChannel || v.selected);
  const changed = useStore(frameStore, (f) => f.config);
  const [shown, setShown] = useState<ProjectToolchain | null | undefined>();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    readToolchain(id).then((v) => setShown(toDecide(v) ?? null), (err: unknown) => setFailure(toFailure(err)));
  }, [id]);
  useEffect(load, [load, changed]);
  const { deaf, changed: another, clicked, handlers } = useDeciding(shown ? `${shown.path} ${shown.sha256}` : "");

  async function decide(t: ProjectToolchain, build: boolean) {
    setBusy(true);
    setFailure(null);
    try {
      await decideToolchain(id, t, build);
      toast(build ? "The image is built before the next container is made." : "Runs work without it.");
      onClose();
    } catch (err) {
      setFailure(toFailure(err));
      setBusy(false);
      load();
    }
  }

  return (
    <Modal title="The project's own image" wide scrolls className="toolchain" onClose={onClose} guard={{ ...handlers, "data-deaf": deaf || undefined }} description="What it is made of, and whether it is built" foot={
      shown ? (
        <>
          <Button onClick={onClose}>Not now</Button>
          <span className="grow" />
          {shown.state !== "declined" && <Button disabled={busy} onClick={(e) => clicked(e, () => void decide(shown, false))}>Work without it</Button>}
          {shown.state !== "approved" && <Button look="primary" disabled={busy} onClick={(e) => clicked(e, () => void decide(shown, true))}>Build with it</Button>}
        </>
      ) : <Button onClick={onClose}>Close</Button>
    }>
      {another && <p className="toolchain-changed" role="status">{CHANGED}</p>}
      {shown && <Shown t={shown} key={shown.sha256} />}
      {shown === null && (
        <p>
          This project brings no image of its own. What its programs need beyond Loop's image goes into a script at <span className="mono">.loop/setup.sh</span>, which root runs when the image is built.
        </p>
      )}
      {shown === undefined && !failure && <div className="skeleton toolchain-skeleton" role="status" aria-label="Reading the project" />}
      {failure && <FailureCard failure={failure}>{!shown && <Button look="small" onClick={() => { setFailure(null); load(); }}>Load again</Button>}</FailureCard>}
    </Modal>
  );
}

const STATE = { undecided: "", approved: "It counts: runs work in an image that was built with it.", declined: "You chose to work without it." };

function Shown({ t }: { t: ProjectToolchain }) {
  const differs = hasChange(t);
  const [whole, setWhole] = useState(!differs);
  return (
    <>
      <p>
        The project brings {toolchainWord(t.kind)} for what its programs need: <span className="mono selectable toolchain-path">{visible(t.path)}</span>. <strong>{STATE[t.state as keyof typeof STATE]}</strong>
      </p>
      <p className="hint">
        An agent can write it. Its build runs as root in a container of its own, with a network and outside of the gate. It gets what is shown here, none of your keys, and no other file of the project.
      </p>
      {(t.notes ?? []).length > 0 && (
        <ul className="toolchain-notes">
          {(t.notes ?? []).map((n) => <li key={n}><SafeText text={n} /></li>)}
        </ul>
      )}
      {differs && (
        <div className="toolchain-views" role="group" aria-label="What is shown">
          <button type="button" className="filter-chip" aria-pressed={!whole} onClick={() => setWhole(false)}>What changed</button>
          <button type="button" className="filter-chip" aria-pressed={whole} onClick={() => setWhole(true)}>Whole text</button>
        </div>
      )}
      {whole ? (
        <pre className="toolchain-text selectable" tabIndex={0} role="group" aria-label="Whole text"><SafeText text={t.text} /></pre>
      ) : (
        <Diff patch={t.diff} name="What changed since you approved it" />
      )}
    </>
  );
}
