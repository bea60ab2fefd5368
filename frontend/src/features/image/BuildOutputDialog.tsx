import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { BuildOutput, Failure } from "../../api/types";
import { exact } from "../../model/clock";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { readOutput } from "../../session/toolchain";
import "./image.css";

/** All that the last build of an image said. */
export function BuildOutputDialog({ onClose }: { onClose(): void }) {
  const [out, setOut] = useState<BuildOutput | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    readOutput().then(setOut, (err: unknown) => setFailure(toFailure(err)));
  }, []);
  return (
    <Modal title="Output of the last build" wide scrolls onClose={onClose} description="All that the builder of an image said" foot={out?.text ? <CopyButton look="" text={() => out.text}>Copy the output</CopyButton> : undefined}>
      {out && out.began_at === 0 && <p>No image was built since Loop was started.</p>}
      {out && out.began_at > 0 && (
        <>
          <p className="muted">The <SafeText text={out.name} />, begun {exact(out.began_at)}</p>
          <pre className="build-log selectable" tabIndex={0} role="group" aria-label="Output of the build"><SafeText text={out.text || "It has said nothing yet."} /></pre>
        </>
      )}
      {failure && <FailureCard failure={failure} />}
    </Modal>
  );
}
