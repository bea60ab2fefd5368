import { RefreshCw } from "lucide-react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { fineDuration } from "../../model/format";
import { doctorStore, frameStore } from "../../model/stores";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { fix } from "../../session/fix";
import { session } from "../../session/session";
import { CheckRow } from "../../ui/CheckRow";
import { reportText } from "../../model/doctor";

export function DoctorDialog({ onClose }: { onClose(): void }) {
  const { phase, report, failure, fixing } = useStore(doctorStore);
  const version = useStore(frameStore, (f) => f.version);
  useEffect(() => {
    void session().doctor();
  }, []);
  const checks = report?.checks ?? [];
  const running = phase === "running";
  return (
    <Modal title="Checks" wide scrolls onClose={onClose} description="Everything that Loop needs on this computer, each tried for real" foot={
      <>
        <span className="grow muted" role="status">{running ? "Each check performs the operation; this takes some seconds." : version && `This is Loop ${version}.`}</span>
        <CopyButton look="" text={() => reportText(frameStore.getState(), checks)}>Copy this report</CopyButton>
        <Button look="primary" disabled={running} onClick={() => void session().doctor()}>
          <RefreshCw size={13} aria-hidden className={running ? "spin" : ""} />
          {running ? "Checking" : "Check again"}
        </Button>
      </>
    }>
      {failure && phase !== "running" && <FailureCard failure={failure} />}
      <ul className="checks">
        {checks.length === 0 && running && <CheckRow state="busy" title="Checking" summary="Engine, image, link, gate, certificates, model access, display, notifications, disk." />}
        {checks.map((c) => (
          <CheckRow key={c.id} state={running ? "busy" : c.state} title={c.title} summary={c.summary} remedy={c.remedy} detail={c.detail} aside={c.duration_ms > 0 && !running ? fineDuration(c.duration_ms) : undefined}>
            {c.fix && !running && (
              <Button disabled={fixing !== null} onClick={() => void fix(c.id)} aria-label={`${c.title}: ${c.fix}`}>
                {fixing === c.id ? "Under way…" : c.fix}
              </Button>
            )}
          </CheckRow>
        ))}
      </ul>
    </Modal>
  );
}
