import { Check, ChevronRight, PackagePlus, Rocket, X } from "lucide-react";
import { useStore } from "zustand";
import { duration, elapsed } from "../../../model/format";
import { frameStore } from "../../../model/stores";
import type { StartItem } from "../../../model/timeline/items";
import { Spinner } from "../../../ui/Mark";
import { useNow } from "../../../ui/useNow";
import { Button } from "../../../ui/Button";
import { TOOLCHAIN_STEP } from "../../../model/toolchain";
import { openDialog } from "../../../session/actions";
import type { RowProps } from "./props";

const DOING: Record<string, string> = { toolchain: "The project brings an image of its own. The run waits for your word.", slot: "Waiting until a run elsewhere ends", image: "Checking the agent image", container: "Starting the container", link: "Connecting to the container", agent: "Starting Claude Code" };
const DONE: Record<string, string> = { toolchain: "Your word on the image", slot: "Free place", image: "Agent image", container: "Container", link: "Link", agent: "Claude Code" };

export function StartRow({ item, open, onToggle }: RowProps<StartItem>) {
  const busy = item.readyAt === 0;
  const now = useNow(busy);
  if (!busy && !item.failed) {
    return (
      <div className="main">
        <button type="button" className="line quiet" tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
          <Rocket size={14} aria-hidden />
          <span className="verb">Started</span>
          <span className="object prose-object ellipsis">{item.steps.map((s) => DONE[s.step] ?? s.step).join(" · ")}</span>
          <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
        </button>
        {open && <Steps item={item} now={item.readyAt} />}
      </div>
    );
  }
  return (
    <div className="main" role={busy ? "status" : undefined}>
      <Steps item={item} now={busy ? now : item.readyAt} />
    </div>
  );
}

function Steps({ item, now }: { item: StartItem; now: number }) {
  const busy = item.readyAt === 0;
  return (
    <ol className="steps">
      {item.steps.map((s, i) => {
        const next = item.steps[i + 1];
        const last = !next;
        const end = next?.at ?? now;
        return (
          <li key={`${s.step}${s.at}`} className={last && busy ? "busy" : last && item.failed ? "bad" : ""}>
            {last && busy ? s.step === TOOLCHAIN_STEP ? <PackagePlus size={13} aria-hidden /> : <Spinner size={13} /> : last && item.failed ? <X size={13} aria-hidden /> : <Check size={13} aria-hidden />}
            <span>{(last && busy) || item.failed ? (DOING[s.step] ?? s.step) : (DONE[s.step] ?? s.step)}</span>
            {last && busy && s.step === "image" && <BuildProgress />}
            {last && busy && s.step === TOOLCHAIN_STEP && <Button look="small primary" onClick={() => openDialog("toolchain")}>Look at it</Button>}
            <span className="steps-time tnum">{last && busy ? (end - s.at > 1500 ? elapsed(end - s.at) : "") : duration(end - s.at)}</span>
          </li>
        );
      })}
    </ol>
  );
}

function BuildProgress() {
  const image = useStore(frameStore, (f) => f.image);
  if (image?.state !== "building") return null;
  const p = Math.round((image.progress ?? 0) * 100);
  return (
    <button type="button" className="inline-progress" onClick={() => openDialog("image")} title={image.step}>
      <span className="progress" role="progressbar" aria-label="Agent image" aria-valuenow={p} aria-valuemin={0} aria-valuemax={100}>
        <i style={{ width: `${p}%` }} />
      </span>
      <span className="tnum">{p} %</span>
    </button>
  );
}

/** The row that shows at once after sending, before Loop answers. */
export function Starting({ word }: { word: string }) {
  return (
    <div className="item starting" role="status">
      <ol className="steps">
        <li className="busy">
          <Spinner size={13} />
          <span>{word}</span>
        </li>
      </ol>
    </div>
  );
}
