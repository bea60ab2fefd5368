import { Check, Clock3, TriangleAlert, X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import type { Approval, RuleMatch } from "../../api/types";
import { precise } from "../../model/clock";
import type { Choice } from "../../model/gate";
import { against, keptWords, offersOf, patternParts, scopeName, verb } from "../../model/gate";
import { plural } from "../../model/format";
import { SafeLine } from "../SafeText";

const SHOWN = 8; // matches; more say no more about the rule

type Props = { a: Approval; choice: Choice; onChoice(c: Choice): void };

/** The rule that the third button would store, and what it would have decided before. */
export function ApprovalRule({ a, choice, onChoice }: Props) {
  const name = useId();
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => body.current?.scrollIntoView({ block: "nearest" }), []); // the person asked for it
  const offers = offersOf(a);
  const o = offers.find((x) => x.scope === choice.scope) ?? offers[0];
  if (!o) return null;
  const warning = against(o, choice.allow);
  return (
    <div className="approval-rule" ref={body}>
      <fieldset>
        <legend>Rule it would store</legend>
        <div className="approval-scopes">
          {offers.map((x) => (
            <label key={x.scope}>
              <input type="radio" className="sr-only" name={name} checked={x.scope === o.scope} onChange={() => onChoice({ ...choice, scope: x.scope })} />
              <span>{scopeName(x.scope, a)}</span>
            </label>
          ))}
        </div>
        <span className="muted">{keptWords(o.scope, a)}</span>
      </fieldset>
      <p className="approval-pattern selectable">
        <Verdict ok={choice.allow} word={choice.allow ? "Allow" : "Deny"} />
        <span>{verb(a)}</span>
        <span className="mono">{patternParts(o.pattern).map((p, i) => (p.wide ? <b key={i}><SafeLine text={p.text} /></b> : <SafeLine key={i} text={p.text} />))}</span>
      </p>
      <details>
        <summary data-quiet>As it stands in the settings file</summary>
        <pre className="selectable" tabIndex={0} aria-label="The rule as JSON"><SafeLine text={o.rule} /></pre>
      </details>
      {o.matches && o.matches.length > 0 && (
        <>
          <p>Would have matched <strong>{o.matches.length}</strong>{o.of ? ` of the last ${plural(o.of, "decision")}` : ""}:</p>
          <ul className="approval-matches">
            {o.matches.slice(0, SHOWN).map((m, i) => (
              <li key={i}>
                <span className="tnum muted">{precise(Date.parse(m.at))}</span>
                <span className="mono ellipsis"><SafeLine text={m.what} /></span>
                <Match m={m} />
              </li>
            ))}
          </ul>
          {o.matches.length > SHOWN && <p className="muted">and {o.matches.length - SHOWN} earlier ones</p>}
        </>
      )}
      {warning && <p className="approval-warning"><TriangleAlert size={14} aria-hidden /> {warning}</p>}
    </div>
  );
}

function Match({ m }: { m: RuleMatch }) {
  if (m.own) return <span className="approval-verdict"><Clock3 size={13} aria-hidden /> this question</span>;
  return <Verdict ok={m.decision === "allowed"} word={m.decision === "allowed" ? "you allowed it" : m.decision === "denied" ? "you denied it" : m.decision} />;
}

function Verdict({ ok, word }: { ok: boolean; word: string }) {
  return (
    <span className={`approval-verdict ${ok ? "yes" : "no"}`}>
      {ok ? <Check size={13} aria-hidden /> : <X size={13} aria-hidden />}
      {word}
    </span>
  );
}
