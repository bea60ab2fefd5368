import { Check, ChevronRight, CircleSlash, Film, GitCompareArrows, KeyRound, RotateCw, ScrollText } from "lucide-react";
import { useState } from "react";
import { visible } from "../../../model/text";
import { outcomeOf } from "../../../model/timeline/changedfiles";
import type { EndItem, RunInfo } from "../../../model/timeline/items";
import { costWords, fullness } from "../../../model/usage";
import { Button, KeyOf } from "../../../ui/Button";
import { FailureCard } from "../../../ui/FailureCard";
import { Ring } from "../../../ui/Ring";
import { openDialog, retryRun } from "../../../session/actions";
import { withoutToolchain } from "../../../session/toolchain";
import { playBack } from "../../../session/playback";
import { openReview } from "../../../session/review";
import { toastFailure, viewStore } from "../../../model/stores";
import { exact } from "../../../model/clock";
import { endFacts, endWord, isDemo } from "../itemText";
import type { RowProps } from "./props";
import { buildable } from "../../../model/sandboxImage";
import { SandboxBuild } from "./SandboxBuild";
import { Changed } from "./Changed";
import { UsageTable } from "./UsageTable";

/** Failures of the model's key. The settings open with the keyboard in its field. */
const KEYS = new Set(["model_auth", "credentials"]);

/** Failures of a build, whose output is at hand. */
const BUILDS = new Set(["toolchain_build", "image_build"]);

const UNSAID = { code: "internal", cause: "The run ended without saying why.", remedy: "Run it again; if it repeats, open the checks." };

export function EndRow({ item, run, model, dir = "", open, onToggle }: RowProps<EndItem> & { run?: RunInfo | undefined; model: string; dir?: string }) {
  const s = item.status;
  const cost = costWords(s, isDemo(s));
  const of = cost ? ` · ${s.cost_estimated ? "estimated " : ""}cost of this run` : "";
  const gutter = <span className="gutter tnum" title={exact(item.at) + of}>{cost}</span>;
  const ended = s.state === "done" || s.state === "cancelled";
  const outcome = outcomeOf(run, s.state === "done");
  const reviewed = outcome ? outcome.files.length > 0 : run?.commands; // a command may have changed any
  const numbers = (
    <>
      <Facts
        facts={[ended ? "" : endWord(s), ...endFacts(item, model).map(visible)].filter(Boolean)} percent={fullness(s.context)}
        open={s.model_usage?.length ? open : undefined} onToggle={() => onToggle(item.key)}
      />
      {open && <UsageTable usage={s} />}
    </>
  );
  if (ended) {
    const done = s.state === "done";
    return (
      <>
        <div className="main">
          <div className={`end-line ${done ? "done" : ""}`}>
            {done ? <Check size={14} aria-hidden /> : <CircleSlash size={14} aria-hidden />}
            <span className="end-word">{endWord(s)}</span>
            {outcome?.files.length === 0 && <span className="muted">{outcome.words}</span>}
            <span className="end-acts">
              {reviewed && <Review runId={item.runId} />}
              {!done && <Again runId={item.runId} word="Run again" />}
              <PlayBack runId={item.runId} />
            </span>
          </div>
          {outcome && outcome.files.length > 0 && <Changed outcome={outcome} dir={dir} />}
          {numbers}
        </div>
        {gutter}
      </>
    );
  }
  const failure = item.failure ?? UNSAID;
  return (
    <>
      <div className="main">
        <FailureCard failure={failure} quiet={s.state === "interrupted"}>
          {KEYS.has(failure.code) && (
            <Button look="small" onClick={() => openDialog("settings")}>
              <KeyRound size={12} aria-hidden />
              Change the key
            </Button>
          )}
          {BUILDS.has(failure.code) && <Output />}
          {failure.code === "toolchain_build" && <Without runId={item.runId} />}
          {buildable(failure.code) && <SandboxBuild kind={buildable(failure.code)} />}
          <Again runId={item.runId} word="Retry" />
          {reviewed && <Review runId={item.runId} />}
          <PlayBack runId={item.runId} />
        </FailureCard>
        {outcome && outcome.files.length > 0 && <Changed outcome={outcome} dir={dir} />}
        {numbers}
      </div>
      {gutter}
    </>
  );
}

type FactsProps = { facts: string[]; percent: number | null; open: boolean | undefined; onToggle(): void };

/** The numbers of a run, the context last. They are a button if a table has more of them. */
function Facts({ facts, percent, open, onToggle }: FactsProps) {
  if (facts.length === 0) return null;
  const last = facts.length - 1;
  const list = facts.map((f, i) => (
    <span key={f}>
      {percent !== null && i === last && <Ring percent={percent} size={12} />}
      {f}
      {open !== undefined && i === last && <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />}
    </span>
  ));
  if (open === undefined) return <p className="end-facts muted tnum">{list}</p>;
  return (
    <button type="button" className="end-facts muted tnum" tabIndex={-1} aria-expanded={open} onClick={onToggle}>
      {list}
    </button>
  );
}

function Again({ runId, word }: { runId: string; word: string }) {
  return (
    <Button look="small" onClick={() => void retryRun(runId)}>
      <RotateCw size={12} aria-hidden />
      {word}
    </Button>
  );
}

function Without({ runId }: { runId: string }) {
  const [busy, setBusy] = useState(false);
  const go = () => {
    setBusy(true);
    withoutToolchain(viewStore.getState().selected, runId).catch(toastFailure).finally(() => setBusy(false));
  };
  return <Button look="small" disabled={busy} onClick={go}>Work without it</Button>;
}

function Output() {
  return (
    <Button look="small" onClick={() => openDialog("output")}>
      <ScrollText size={12} aria-hidden />
      Full output
    </Button>
  );
}

function Review({ runId }: { runId: string }) {
  return (
    <Button look="small" onClick={() => openReview(viewStore.getState().selected, runId)}>
      <GitCompareArrows size={12} aria-hidden />
      Review
      <span className="end-key" aria-hidden><KeyOf of="timeline.review" /></span>
    </Button>
  );
}

function PlayBack({ runId }: { runId: string }) {
  return (
    <Button look="small" onClick={() => playBack(viewStore.getState().selected, runId)}>
      <Film size={12} aria-hidden />
      Play back
    </Button>
  );
}
