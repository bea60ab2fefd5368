// The four rows of the welcome page. Live state counts first, the doctor's checks second.
import type { ConfigStatus, DoctorCheck, EngineStatus, GateStatus, ImageStatus } from "../../api/types";
import { gateFace } from "../../model/gate";
import { duration } from "../../model/format";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { CheckRow } from "../../ui/CheckRow";
import { buildImage, cancelBuild, openDialog } from "../../session/actions";
import { session } from "../../session/session";

const CREDENTIAL: Record<string, string> = { anthropic_api_key: "API key", claude_code_oauth_token: "Claude Code token" };

type EngineProps = { engine: EngineStatus | null; check?: DoctorCheck; link?: DoctorCheck; checking: boolean };

export function EngineRow({ engine, check, link, checking }: EngineProps) {
  if (!engine) return <CheckRow state="busy" title="Docker engine" summary="Looking for it" />;
  if (!engine.ok) {
    const f = engine.failure;
    return (
      <CheckRow state="fail" title="Docker engine" summary={f?.cause ?? "Nothing answers."} remedy={f?.remedy} detail={f?.detail} aside={
        <Button onClick={() => { void session().refresh(); void session().doctor(); }}>Check again</Button>
      } />
    );
  }
  const how = [`${engine.name} ${engine.version}`, engine.rootless ? "rootless" : "rootful", `at ${engine.host.replace(/^unix:\/\//, "")}`].join(", ");
  const proof = link?.state === "ok" ? `; started and removed a container in ${duration(link.duration_ms)}` : checking ? "; trying a container" : "";
  const state = check?.state === "fail" ? "fail" : "ok";
  return <CheckRow state={state} title="Docker engine" summary={how + proof} remedy={check?.remedy} aside={<span className="word">ready</span>} />;
}

export function ImageRow({ image, engineOK }: { image: ImageStatus | null; engineOK: boolean }) {
  if (!image || image.state === "unknown") return <CheckRow state={engineOK ? "busy" : "skip"} title="Agent image" summary={engineOK ? "Looking for it" : "Not tried: the Docker engine comes first."} />;
  const build = image.theirs ? <Button onClick={() => openDialog("image")}>Show</Button> : <Button disabled={!engineOK} onClick={() => void buildImage()}>{image.failure ? "Build again" : "Build it now"}</Button>;
  switch (image.state) {
    case "ready":
      return <CheckRow state="ok" title="Agent image" summary={`${image.ref} is there${image.theirs ? "" : " and matches this version"}${image.note ? `. ${image.note}` : ""}`} aside={<span className="word">ready</span>} />;
    case "building": {
      const p = Math.round((image.progress ?? 0) * 100);
      return (
        <CheckRow state="busy" title="Agent image" summary={visible(image.step || "Building")} aside={
          <>
            <span className="progress" role="progressbar" aria-label="Agent image" aria-valuenow={p} aria-valuemin={0} aria-valuemax={100}><i style={{ width: `${p}%` }} /></span>
            <Button look="small" onClick={() => openDialog("image")}>Show</Button>
            <Button look="small" onClick={() => void cancelBuild()}>Cancel</Button>
          </>
        } />
      );
    }
    default:
      return (
        <CheckRow
          state={image.failure ? "fail" : "open"}
          title="Agent image"
          summary={image.failure?.cause ?? (image.theirs ? `The image ${visible(image.ref)} is not there yet. ${image.note ?? ""}` : image.state === "stale" ? "Made by another version of Loop; the next run builds it again." : "Not built yet. The first run builds it, which takes some minutes.")}
          remedy={image.failure?.remedy}
          detail={image.failure?.detail}
          aside={build}
        />
      );
  }
}

const GATE_STATE = { on: "ok", off: "warn", unknown: "open", broken: "fail", record: "warn", shadow: "warn" } as const;

export function GateRow({ gate }: { gate: GateStatus | null }) {
  const { tone, text } = gateFace(gate);
  const summary = tone === "on" ? "Agents' risky calls wait in the kernel until you answer." : `${text}.`;
  return <CheckRow state={GATE_STATE[tone]} title="Gate" summary={summary} {...(gate?.why ? { remedy: gate.why } : {})} />;
}

export function ModelRow({ config, check, checking }: { config: ConfigStatus | null; check?: DoctorCheck; checking: boolean }) {
  const button = <Button onClick={() => openDialog("settings")}>{config?.has_credentials ? "Change" : "Add key"}</Button>;
  if (!config?.has_credentials) {
    return <CheckRow state="open" title="Model access" summary="Paste an API key or a Claude Code token, or start with the demo, which needs neither" aside={button} />;
  }
  const kind = CREDENTIAL[config.credential_kind ?? ""] ?? "key";
  if (check && (check.state === "fail" || check.state === "warn")) {
    return <CheckRow state={check.state} title="Model access" summary={check.summary} remedy={check.remedy} detail={check.detail} aside={button} />;
  }
  return <CheckRow state="ok" title="Model access" summary={check?.state === "ok" ? check.summary : `The ${kind} is set${checking ? "; trying it" : ""}`} aside={button} />;
}
