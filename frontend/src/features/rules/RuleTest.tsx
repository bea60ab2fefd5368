import type { RefObject } from "react";
import type { Failure, GateRule, GateTry } from "../../api/types";
import type { TryKind } from "../../model/gate-rules";
import { answerOf, callWords, keyOfRule, patternWords, ruleTone, ruleWord, stepNumbers, TRIES } from "../../model/gate-rules";
import { CopyButton } from "../../ui/CopyButton";
import { DecisionWord } from "../../ui/DecisionWord";
import { SafeLine, SafeText } from "../../ui/SafeText";

type Props = {
  kind: TryKind; typed: string; answer: GateTry | null; failure: Failure | null; rules: GateRule[]; field: RefObject<HTMLInputElement | null>;
  onKind(k: TryKind): void; onType(text: string): void; onShow(key: string): void;
};

const HINTS: Partial<Record<TryKind, string>> = { run: "git push --force", connect: "/run/user/1000/bus", "open a site": "example.com" };
/** Answers for a call that is only typed what the rules would say of it. */
export function RuleTest({ kind, typed, answer, failure, rules, field, onKind, onType, onShow }: Props) {
  const said = answer && answerOf(answer);
  const row = rules.find((r) => r.number === answer?.number);
  return (
    <section className="rules-test" aria-label="Test of the rules">
      <h3>Would this be asked?</h3>
      <div className="rules-call">
        <select className="field" aria-label="Operation" value={kind} onChange={(e) => onKind(TRIES.find((k) => k === e.target.value) ?? "write")}>
          {TRIES.map((k) => <option key={k}>{k}</option>)}
        </select>
        <input ref={field} className="field mono" aria-label="What to test" spellCheck={false} autoComplete="off" placeholder={HINTS[kind] ?? "~/.bashrc"} value={typed} onChange={(e) => onType(e.target.value)} />
      </div>
      <div aria-live="polite">
        {!typed.trim() && <p className="rules-quiet">A path (below ~/, the project or /), a command line, a socket or a site. Nothing is done: only the rules are asked.</p>}
        {failure && <p className="rules-refused"><SafeText text={failure.cause} /> <SafeText text={failure.remedy ?? ""} /></p>}
        {said && <p><DecisionWord tone={said.tone} mark>{said.text}</DecisionWord></p>}
        {answer && <p className="rules-quiet"><SafeText text={answer.reason} /></p>}
      </div>
      {row && (
        <button type="button" className="rules-decider" onClick={() => onShow(keyOfRule(row))} title="Show the rule in the list">
          <span className="tnum">{row.number}</span> <DecisionWord tone={ruleTone(row.decision)}>{ruleWord(row.decision)}</DecisionWord> <span>{callWords(row)}</span> <span className="mono ellipsis"><SafeLine text={patternWords(row)} /></span>
        </button>
      )}
      {answer && (
        <>
          <dl className="rules-steps">
            {(answer.steps ?? []).map((s) => <div key={s.from} className={s.outcome}><dt className="tnum">{stepNumbers(s)}</dt><dd><SafeText text={s.text} /></dd></div>)}
          </dl>
          {answer.note && <p className="rules-quiet"><SafeText text={answer.note} /></p>}
          <CopyButton text={() => answer.case}>Copy as a test case</CopyButton>
        </>
      )}
    </section>
  );
}
