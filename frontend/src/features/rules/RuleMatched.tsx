import type { GateRuleMatches } from "../../api/types";
import { when } from "../../model/clock";
import { elideMiddle } from "../../model/gate-text";
import { matchWords } from "../../model/rule-draft";
import { DecisionWord } from "../../ui/DecisionWord";
import { SafeLine } from "../../ui/SafeText";

/** The recorded decisions that a rule would have matched, the newest first. */
export function RuleMatched({ m }: { m: GateRuleMatches }) {
  const shown = m.matches ?? [];
  return (
    <section className="rules-matched" aria-label="What it would have matched">
      <p>{matchWords(m)}</p>
      {shown.length > 0 && (
        <ul>
          {shown.map((r, i) => (
            <li key={`${r.at} ${i}`}>
              <span className="tnum">{when(Date.parse(r.at))}</span>
              <span className="mono ellipsis" title={r.what}><SafeLine text={elideMiddle(r.what, 90)} /></span>
              <DecisionWord tone={r.decision === "allowed" ? "yes" : "no"} mark>{r.decision}</DecisionWord>
            </li>
          ))}
        </ul>
      )}
      {m.total > shown.length && shown.length > 0 && <p className="rules-quiet">The newest {shown.length}.</p>}
    </section>
  );
}
