import { Check, Hammer } from "lucide-react";
import { useStore } from "zustand";
import { sandboxStore } from "../../../model/sandboxImage";
import { cancelBuild } from "../../../session/actions";
import { buildSandboxImage } from "../../../session/sandboxImage";
import { Button } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import "./sandboxbuild.css";

/** The button under a run that failed because an image is missing that Loop can build. */
export function SandboxBuild({ kind }: { kind: string }) {
  const build = useStore(sandboxStore);
  const own = build.kind === kind ? build.state : "";
  if (own === "building") {
    return (
      <>
        <span className="sandboxbuild-step" role="status">
          <SafeText text={build.step || "Building the image"} /> <span className="tnum">{Math.round(build.progress * 100)} %</span>
        </span>
        <Button look="small" onClick={() => void cancelBuild()}>Cancel the build</Button>
      </>
    );
  }
  if (own === "ready") {
    return <span className="sandboxbuild-step" role="status"><Check size={13} aria-hidden /> The image is ready.</span>;
  }
  return (
    <Button look="small primary" disabled={build.state === "building"} onClick={() => void buildSandboxImage(kind)}>
      <Hammer size={13} aria-hidden />
      Build the image
    </Button>
  );
}
