import { Box, KeyRound, ShieldQuestion, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { missingImage } from "../../../model/image";
import { frameStore } from "../../../model/stores";
import { Button } from "../../../ui/Button";
import { isToolchain, toolchainWord } from "../../../model/toolchain";
import { buildImage, openDialog } from "../../../session/actions";

/** Says before a prompt is sent why its run would fail or wait. */
export function Banner({ channelId }: { channelId: ChannelID }) {
  const engine = useStore(frameStore, (f) => f.engine);
  const image = useStore(frameStore, (f) => f.image);
  const config = useStore(frameStore, (f) => f.config);
  const trust = useStore(frameStore, (f) => f.trust[channelId]);
  const demo = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.kind === "demo");
  if (engine && !engine.ok) {
    return (
      <Line icon={<TriangleAlert size={14} aria-hidden />} tone="fail" text={engine.failure?.cause ?? "The Docker engine does not answer."} more={engine.failure?.remedy}>
        <Button look="small" onClick={() => openDialog("doctor")}>Check</Button>
      </Line>
    );
  }
  if (image?.state === "missing" || image?.failure) {
    const { cause, remedy } = missingImage(image);
    return (
      <Line icon={<Box size={14} aria-hidden />} tone={image.failure ? "fail" : "need"} text={cause} more={remedy}>
        {image.theirs ? <Button look="small" onClick={() => openDialog("image")}>Show</Button> : <Button look="small" onClick={() => void buildImage()}>Build it now</Button>}
      </Line>
    );
  }
  if (image?.state === "building") {
    return (
      <Line icon={<Box size={14} aria-hidden />} tone="work" text={`${image.ref.startsWith("loop-project-") ? "A project's own image" : "The agent image"} is being built${image.progress ? `, ${Math.round(image.progress * 100)} %` : ""}.`} more="A prompt waits for it.">
        <Button look="small" onClick={() => openDialog("image")}>Show</Button>
      </Line>
    );
  }
  if (trust) {
    const n = trust.fields?.length ?? 0;
    const [one = "one of them"] = trust.fields ?? [];
    if (isToolchain(trust.fields)) {
      return (
        <Line icon={<ShieldQuestion size={14} aria-hidden />} tone="need" text={`This project brings ${toolchainWord(one)} for an image of its own.`} more="Runs wait for your word.">
          <Button look="small" data-decide="" onClick={() => openDialog("toolchain", channelId)}>Look at it</Button>
        </Line>
      );
    }
    return (
      <Line icon={<ShieldQuestion size={14} aria-hidden />} tone="need" text="This project's settings are not approved." more={`Runs go without ${n === 1 ? one : `${n} of them`} until you approve them as they are.`}>
        <Button look="small" onClick={() => openDialog("settings", channelId)}>Look at them</Button>
      </Line>
    );
  }
  if (config && !config.has_credentials && !demo) {
    return (
      <Line icon={<KeyRound size={14} aria-hidden />} tone="need" text="No model access yet." more="Runs here will fail until there is a key; the demo channel works without one.">
        <Button look="small" onClick={() => openDialog("settings")}>Add key</Button>
      </Line>
    );
  }
  return null;
}

type LineProps = { icon: ReactNode; tone: string; text: string; more?: string | undefined; children: ReactNode };

export function Line({ icon, tone, text, more, children }: LineProps) {
  return (
    <div className={`banner ${tone}`}>
      {icon}
      <p>
        {text && <strong>{text}</strong>} {more}
      </p>
      {children}
    </div>
  );
}
