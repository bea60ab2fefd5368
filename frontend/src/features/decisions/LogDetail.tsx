import { ChevronDown, ChevronUp, Link2, Link2Off, X } from "lucide-react";
import type { ReactNode } from "react";
import type { Failure, GateRule, GateWhy } from "../../api/types";
import { openPanel } from "../../dock/dock";
import { exact, precise } from "../../model/clock";
import { duration, plural } from "../../model/format";
import { verb } from "../../model/gate";
import type { LogEntry } from "../../model/gate-log";
import { byWords, dayWords, decisionWord, draftOfRecord, noRuleWords, objectWords, toneOf, wasAsked } from "../../model/gate-log";
import { RULES_PANEL } from "../../model/gate-rules";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { DecisionWord } from "../../ui/DecisionWord";
import { Fact } from "../../ui/Fact";
import { Process } from "../../ui/Process";
import { SafeLine, SafeText } from "../../ui/SafeText";
import { entryText, inTimelineOf, writeRule } from "./actions";

type Props = { e: LogEntry; why: GateWhy | null; failure: Failure | null; inPlace?: boolean; onStep(by: number): void; onClose(): void };

/** All that is written down of one entry, and what is found of it: its rule as it is now, and whether it holds. */
export function LogDetail({ e, why, failure, inPlace, onStep, onClose }: Props) {
  const r = e.record;
  const asked = wasAsked(r) && r.latency_ms > 0;
  const answered = Date.parse(r.at);
  const word = decisionWord(r);
  const noRule = noRuleWords(r);
  return (
    <div className={`decisions-detail ${inPlace ? "in-place" : ""}`}>
      <header>
        <h3><DecisionWord tone={toneOf(r)}>{word.charAt(0).toUpperCase() + word.slice(1)}{r.scope === "once" && wasAsked(r) ? " once" : ""}</DecisionWord></h3>
        <span className="grow" />
        <IconButton small name="Entry before" action="decisions.previous" onClick={() => onStep(-1)}><ChevronUp size={14} /></IconButton>
        <IconButton small name="Next entry" action="decisions.next" onClick={() => onStep(1)}><ChevronDown size={14} /></IconButton>
        <IconButton small name="Close" keys="Esc" onClick={onClose}><X size={14} /></IconButton>
      </header>
      <p className="decisions-what selectable">{r.operation ? verb(r) : ""} <span className="mono"><SafeLine text={objectWords(r)} /></span></p>
      <Part name="Who">
        <Fact name="Program">{(r.exe || r.command) && <Process p={r} path>{r.command && <span className="mono"><SafeLine text={r.command} /></span>}</Process>}</Fact>
        <Fact name="Process">{r.pid ? String(r.pid) : ""}</Fact>
        <Fact name="Calls">{r.calls > 1 ? `${plural(r.calls, "call")}${e.alike > 1 ? ` in ${plural(e.alike, "entry", "entries")}` : ""}` : ""}</Fact>
      </Part>
      <Part name="Decision">
        <Fact name="By"><SafeLine text={byWords(r)} /></Fact>
        <Fact name="Rule">{r.rule && <span className="mono"><SafeLine text={r.rule} /></span>}</Fact>
        <Fact name="Rule now">{why && r.rule && <RuleNow rule={why.rule} />}</Fact>
        <Fact name="Guards">{r.category}</Fact>
        <Fact name="Policy">{r.policy && r.policy !== "0" ? `version ${r.policy}` : ""}</Fact>
        <Fact name="Asked">{asked ? precise(answered - r.latency_ms) : ""}</Fact>
        <Fact name={asked ? "Answered" : "Decided"}>{`${exact(answered)}${asked ? `, after ${duration(r.latency_ms)}` : ""}`}</Fact>
      </Part>
      <Part name="Record">
        <Fact name="Entry">{`${e.entry.toLocaleString("en")}${why ? ` of ${why.of.toLocaleString("en")}` : ""} on ${dayWords(e.day)}`}</Fact>
        <Fact name="Id">{r.id && <span className="mono selectable">{r.id}</span>}</Fact>
        <Fact name="Hash"><span className="mono">{`${r.hash.slice(0, 12)}… after ${r.prev ? `${r.prev.slice(0, 12)}…` : "nothing"}`}</span></Fact>
        <Fact name="Chain">{why && (why.holds
          ? <span className="decisions-holds"><Link2 size={13} aria-hidden /> holds</span>
          : <DecisionWord tone="no" mark={Link2Off}><SafeText text={why.broken || "does not hold"} /></DecisionWord>)}</Fact>
        <Fact name="Not read">{failure && <SafeText text={[failure.cause, failure.remedy].filter(Boolean).join(" ")} />}</Fact>
      </Part>
      <footer>
        <Button look="small" onClick={() => inTimelineOf(r)} disabled={!r.run_id}>Show in timeline <KeyOf of="decisions.timeline" /></Button>
        {draftOfRecord(r) && <Button look="small" disabled={noRule !== ""} title={noRule || "Opens the rule in the editor, where you save it"} onClick={() => writeRule(r)}>Write a rule <KeyOf of="decisions.rule" /></Button>}
        <CopyIcon name="Copy the entry" text={entryText(r)} />
      </footer>
    </div>
  );
}

/** The rule as it is now: it may have been changed since, or be gone. */
function RuleNow({ rule }: { rule: GateRule | undefined }) {
  if (!rule) return <>There is no such rule any more.</>;
  return (
    <>
      <SafeText text={rule.text} />{" "}
      <button type="button" className="link small" onClick={() => openPanel({ kind: RULES_PANEL, data: null })}>Show rule {rule.number}</button>
    </>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section>
      <h4>{name}</h4>
      <dl className="selectable">{children}</dl>
    </section>
  );
}
