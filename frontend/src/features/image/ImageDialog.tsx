import { Hammer } from "lucide-react";
import { useEffect, useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import { imageWord } from "../../model/image";
import { frameStore, viewStore } from "../../model/stores";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { buildImage, cancelBuild, openDialog } from "../../session/actions";
import { CheckIcon } from "../../ui/CheckRow";
import "./image.css";

const NONE: string[] = [];

export function ImageDialog({ onClose }: { onClose(): void }) {
  const image = useStore(frameStore, (f) => f.image);
  const asked = useStore(viewStore, (v) => v.buildFailure);
  const log = useRef<HTMLPreElement>(null);
  const lines = image?.lines ?? NONE;
  useLayoutEffect(() => {
    const el = log.current;
    if (el && el.scrollHeight - el.scrollTop - el.clientHeight < 60) el.scrollTop = el.scrollHeight;
  }, [lines]);
  const building = image?.state === "building";
  useEffect(() => { // what another caller's build came to counts from then on
    if (image?.state === "building" || image?.state === "ready") viewStore.setState({ buildFailure: null });
  }, [image]);
  const failure = image?.failure ?? (building ? null : asked);
  const p = Math.round((image?.progress ?? 0) * 100);
  return (
    <Modal title="Agent image" wide onClose={onClose} description="The image that every agent's container is made from" foot={
      <>
        {lines.length > 0 && <Button onClick={() => openDialog("output")}>Full output</Button>}
        {lines.length > 0 && <CopyButton look="" text={() => lines.join("\n")}>Copy the output</CopyButton>}
        <span className="grow" />
        {building ? (
          <Button onClick={() => void cancelBuild()}>Cancel the build</Button>
        ) : !image?.theirs && (
          <Button look={image?.state === "ready" ? "" : "primary"} onClick={() => void buildImage()}>
            <Hammer size={13} aria-hidden />
            {image?.state === "missing" && !image.failure ? "Build it now" : "Build it again"}
          </Button>
        )}
      </>
    }>
      {image && (
        <div className={`image-state check ${building ? "busy" : failure ? "fail" : image.state === "ready" ? "ok" : "open"}`}>
          <span className="check-icon"><CheckIcon state={building ? "busy" : failure ? "fail" : image.state === "ready" ? "ok" : "open"} /></span>
          <div className="check-text">
            <h3>{building ? <SafeText text={image.step || "Building"} /> : imageWord(image)}</h3>
            <p className="mono">{image.ref}</p>
          </div>
          {building && <span className="tnum muted">{p} %</span>}
        </div>
      )}
      {building && (
        <div className="progress image-progress" role="progressbar" aria-label="Agent image" aria-valuenow={p} aria-valuemin={0} aria-valuemax={100}>
          <i style={{ width: `${p}%` }} />
        </div>
      )}
      {image?.note && <p className="hint">{image.note}</p>}
      {failure && <FailureCard failure={failure} />}
      {lines.length > 0 && (
        <pre className="build-log selectable" ref={log} tabIndex={0} aria-label="Output of the build">
          <SafeText text={lines.join("\n")} />
        </pre>
      )}
      {building && <p className="hint">You can close this: the build goes on, and a prompt waits for it.</p>}
    </Modal>
  );
}
