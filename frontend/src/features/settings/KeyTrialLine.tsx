import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import type { KeyState, KeyTrial } from "../../api/types";
import { exact } from "../../model/clock";
import { SafeText } from "../../ui/SafeText";

const LOOKS: Record<KeyState, { tone: string; icon: typeof CircleCheck; word: string }> = {
  accepted: { tone: "done", icon: CircleCheck, word: "It works." },
  refused: { tone: "failed", icon: CircleX, word: "It does not work." },
  unsure: { tone: "needs_you", icon: TriangleAlert, word: "It is not known whether it works." },
  unreached: { tone: "needs_you", icon: TriangleAlert, word: "It was not tried." },
  stopped: { tone: "needs_you", icon: TriangleAlert, word: "It was not saved." },
};

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** What the model said when a key was tried. */
export function KeyTrialLine({ trial }: { trial: KeyTrial }) {
  const { tone, icon: Icon, word } = LOOKS[trial.state];
  return (
    <p className="keys-trial">
      <Icon size={14} aria-hidden className={`state ${tone}`} />
      <span>
        <b>{word}</b> <SafeText text={trial.cause} />{trial.remedy ? <> <SafeText text={trial.remedy} /></> : null}
        {trial.at > 0 && <span className="keys-when" title={exact(trial.at)}> {clock.format(trial.at)}, {(trial.took_ms / 1000).toFixed(1)} s</span>}
      </span>
    </p>
  );
}
