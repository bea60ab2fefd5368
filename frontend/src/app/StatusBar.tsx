import { Box, Container, FileWarning, ShieldAlert, ShieldCheck, ShieldOff, ShieldQuestion, TriangleAlert, Unplug } from "lucide-react";
import { useStore } from "zustand";
import type { GateStatus } from "../api/types";
import { clock } from "../model/clock";
import { plural } from "../model/format";
import { gateFace } from "../model/gate";
import { imageTrouble } from "../model/image";
import { withoutGate } from "../model/onhost";
import { statusOf } from "../model/gate-rules";
import { costsAt } from "../model/frame";
import { connectionStore, frameStore, viewStore } from "../model/stores";
import { amount } from "../model/usage";
import { Spinner } from "../ui/Mark";
import { useMidnight, useNow } from "../ui/useNow";
import { openDialog } from "../session/actions";
import { nextNeed } from "../session/gate";
import { useChannels } from "../session/useChannels";
import { session } from "../session/session";
import { HostItem } from "./HostItem";
import { useAriaKeys, useKeyText } from "../ui/keys";

export function StatusBar() {
  const f = useStore(frameStore);
  const channels = useChannels();
  const working = channels.filter((c) => c.state === "working").length;
  const needs = channels.filter((c) => c.state === "needs_you").length;
  const queued = f.channels.reduce((n, c) => n + c.queued, 0);
  const key = useKeyText()("page.next-waiting");
  const aria = useAriaKeys("page.next-waiting");
  const problems = f.config?.problems?.length ?? 0;
  return (
    <footer className="statusbar" aria-label="Status" data-region="status">
      <Connection />
      {f.engine && (
        <button type="button" className={`status-item ${f.engine.ok ? "" : "fail"}`} onClick={() => openDialog("doctor")} title={f.engine.ok ? `${f.engine.host} (${f.engine.source})` : f.engine.failure?.cause}>
          <Container size={14} aria-hidden />
          {f.engine.ok ? `${f.engine.name} ${f.engine.version}` : `${f.engine.name || "Docker"} does not answer`}
        </button>
      )}
      <ImageItem />
      {working > 0 && (
        <span className="status-item work">
          <Spinner size={12} />
          {working} working
        </span>
      )}
      {queued > 0 && <span className="status-item">{queued} queued</span>}
      {needs > 0 && (
        <button type="button" className="status-item need" onClick={() => nextNeed()} title={key ? `Go to the next one (${key})` : "Go to the next one"} aria-keyshortcuts={aria}>
          <TriangleAlert size={13} aria-hidden />
          {needs} {needs === 1 ? "needs" : "need"} you
        </button>
      )}
      {f.ready && <GateItem gate={f.gate} />}
      {problems > 0 && (
        <button type="button" className="status-item need" onClick={() => openDialog("settings")}>
          <FileWarning size={13} aria-hidden />
          {plural(problems, "problem")} in config.json
        </button>
      )}
      <span className="grow" />
      {f.ready && <Today />}
    </footer>
  );
}

const GATE_ICONS = { on: ShieldCheck, off: ShieldOff, unknown: ShieldQuestion, broken: ShieldAlert, record: ShieldOff, shadow: ShieldOff };
const GATE_TONES = { on: "", off: "need", unknown: "need", broken: "fail", record: "need", shadow: "need" };

/** Whether the gate holds in the selected channel, as it was probed last, and whether there is a container at all. */
function GateItem({ gate }: { gate: GateStatus | null }) {
  const channel = useStore(viewStore, (v) => v.selected);
  const at = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channel));
  const shown = withoutGate(statusOf(gate, at), at);
  const { tone, text } = gateFace(shown);
  const Icon = GATE_ICONS[tone];
  const probed = Date.parse(shown?.probed ?? "");
  return (
    <>
      {at?.on_host && <HostItem />}
      <button type="button" className={`status-item ${GATE_TONES[tone]}`} onClick={() => openDialog("doctor")} title={shown?.why || "Run the checks"}>
        <Icon size={13} aria-hidden />
        {text}
        {probed > 0 && <span className="tnum"> · probed {clock(probed)}</span>}
      </button>
    </>
  );
}

/** The cost of the runs that ended today. It begins again at midnight. */
function Today() {
  const costs = useStore(frameStore, (f) => f.costs);
  const now = useMidnight();
  const { usd, estimated } = costsAt(costs, now);
  const why = `Cost of the runs that ended today${estimated ? "; a part of it is an estimate" : ""}`;
  return <span className="status-item tnum" title={why}>today {amount(usd, estimated)}</span>;
}

function ImageItem() {
  const image = useStore(frameStore, (f) => f.image);
  if (!image) return null;
  switch (image.state) {
    case "building":
      return (
        <button type="button" className="status-item work" onClick={() => openDialog("image")}>
          <Spinner size={12} />
          building image{image.progress ? ` ${Math.round(image.progress * 100)} %` : ""}
        </button>
      );
    case "missing":
    case "stale":
      return (
        <button type="button" className={`status-item ${image.failure ? "fail" : "need"}`} onClick={() => openDialog("image")}>
          <Box size={13} aria-hidden />
          {imageTrouble(image)}
        </button>
      );
    default:
      return null;
  }
}

function Connection() {
  const c = useStore(connectionStore);
  const now = useNow(c.state === "offline");
  if (c.state === "online") return null;
  if (c.state === "connecting") {
    return (
      <span className="status-item work" role="status">
        <Spinner size={12} />
        connecting
      </span>
    );
  }
  const wait = c.state === "offline" ? Math.max(0, Math.ceil((c.retryAt - now) / 1000)) : 0;
  return (
    <button type="button" className="status-item fail" onClick={() => session().reconnect()} title="Try now">
      <Unplug size={13} aria-hidden />
      <span role="status">{c.state === "denied" ? "no valid key for this page" : "offline"}</span>
      {c.state === "offline" && <span className="tnum">{wait > 0 ? `trying again in ${wait} s` : "trying again"}</span>}
    </button>
  );
}
