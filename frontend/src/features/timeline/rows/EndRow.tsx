import { Check, CircleSlash, RotateCw } from "lucide-react";
import { duration, modelName, money, plural } from "../../../model/format";
import { visible } from "../../../model/text";
import type { EndItem } from "../../../model/timeline/items";
import { Button } from "../../../ui/Button";
import { FailureCard } from "../../../ui/FailureCard";
import { retryRun } from "../../frame/actions";
import { exact } from "../clock";
import { endWord } from "../itemText";

export function EndRow({ item, model }: { item: EndItem; model: string }) {
  const s = item.status;
  const ms = s.duration_ms || (item.startedAt ? item.at - item.startedAt : 0);
  const facts = [
    s.model || model ? modelName(visible(s.model || model)) : "",
    ms > 0 ? duration(ms) : "",
    s.num_turns ? plural(s.num_turns, "turn") : "",
  ].filter(Boolean);
  const cost = s.cost_usd ? money(s.cost_usd) : "";
  if (s.state === "done" || s.state === "cancelled") {
    const done = s.state === "done";
    return (
      <>
        <div className={`main end-line ${done ? "done" : ""}`}>
          {done ? <Check size={14} aria-hidden /> : <CircleSlash size={14} aria-hidden />}
          <span className="end-word">{endWord(s)}</span>
          <span className="muted ellipsis tnum">{facts.join(" · ")}</span>
          {!done && <Again runId={item.runId} word="Run again" />}
        </div>
        <span className="gutter tnum" title={`${exact(item.at)}${cost ? ` · cost of this run` : ""}`}>{cost}</span>
      </>
    );
  }
  const failure = item.failure ?? { code: "internal", cause: "The run ended without saying why.", remedy: "Run it again; if it repeats, open the checks." };
  return (
    <>
      <div className="main">
        <FailureCard failure={failure} quiet={s.state === "interrupted"}>
          <Again runId={item.runId} word="Retry" />
        </FailureCard>
        <p className="end-facts muted tnum">
          {[s.state === "interrupted" ? "Interrupted" : "Failed", ...facts, s.exit_code ? `exit ${s.exit_code}` : ""].filter(Boolean).join(" · ")}
        </p>
      </div>
      <span className="gutter tnum">{cost}</span>
    </>
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
