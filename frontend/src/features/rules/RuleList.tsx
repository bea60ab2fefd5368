import { ArrowRight, Check, CircleOff, CornerDownRight, Layers, Lock, TimerOff } from "lucide-react";
import { useEffect, useRef } from "react";
import type { GateRule, GateRuleList } from "../../api/types";
import { when } from "../../model/clock";
import type { RuleGroup } from "../../model/gate-rules";
import { callWords, keyOfRule, moveOf, patternWords, remedyWords, ruleTone, ruleWord, waits } from "../../model/gate-rules";
import { elideMiddle, visibleLine } from "../../model/gate-text";
import { openDialog } from "../../session/actions";
import { Button, KeyOf } from "../../ui/Button";
import { DecisionWord } from "../../ui/DecisionWord";
import { SafeLine, SafeText } from "../../ui/SafeText";

type Props = {
  list: GateRuleList; groups: RuleGroup[]; at: string; decides: number; busy: boolean;
  onChoose(key: string): void; onMove(r: GateRule): void; onRemove(r: GateRule): void; onTurn(r: GateRule): void;
};

/** The rows. The list has the keyboard as a whole. */
export function RuleList({ list, groups, at, decides, busy, onChoose, onMove, onRemove, onTurn }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => { // the panel had the keyboard while the rules were read
    if (document.activeElement?.matches(".rules")) scroller.current?.focus();
  }, []);
  useEffect(() => {
    const shown = at || (decides > 0 ? `${decides}` : "");
    if (shown) document.getElementById(`rule-${shown}`)?.scrollIntoView({ block: "nearest" });
  }, [at, decides]);
  return (
    <div className="rules-list" ref={scroller} role="grid" tabIndex={0} aria-label="Rules of the gate" aria-activedescendant={at ? `rule-${at}` : undefined}>
      <div className="rules-cols" role="row">
        {["No.", "Decision", "Operation", "Pattern", "Hits, 30 days", "Last used"].map((w) => <span key={w} role="columnheader">{w}</span>)}
      </div>
      {groups.map((g) => (
        <div key={g.key} role="rowgroup" className={waits(g) ? "rules-waits" : ""}>
          <GroupHead g={g} />
          {g.rules.map((r) => (
            <Row key={r.number} r={r} here={keyOfRule(r) === at} decides={r.number === decides} move={moveOf(list, r) !== null} busy={busy} onChoose={onChoose} onMove={onMove} onRemove={onRemove} onTurn={onTurn} />
          ))}
        </div>
      ))}
    </div>
  );
}

function GroupHead({ g }: { g: RuleGroup }) {
  const file = waits(g);
  const review = file && (() => openDialog("settings", file.channel_id ?? ""));
  return (
    <div className="rules-group" role="row">
      <span role="gridcell">
        <b>{g.title}</b> <span className="rules-note">{g.note}</span>
        <span className="grow" />
        {g.fixed && <span className="rules-note"><Lock size={12} aria-hidden /> cannot be changed</span>}
        {g.path && !g.fixed && <span className="mono rules-path"><SafeText text={elideMiddle(g.path, 60)} /></span>}
        {g.files.some((f) => f.approved) && !file && <span className="rules-trusted"><Check size={12} aria-hidden /> trusted</span>}
        {file && <span className="rules-need">{(file.waiting ?? []).length === 1 ? "1 setting waits" : `${(file.waiting ?? []).length} settings wait`} for approval; its rules hold</span>}
        {review && <Button look="small" onClick={review}>Review the file</Button>}
      </span>
    </div>
  );
}

type RowProps = { r: GateRule; here: boolean; decides: boolean; move: boolean; busy: boolean; onChoose(key: string): void; onMove(r: GateRule): void; onRemove(r: GateRule): void; onTurn(r: GateRule): void };

function Row({ r, here, decides, move, busy, onChoose, onMove, onRemove, onTurn }: RowProps) {
  const remedy = r.shadowed_by || here ? remedyWords(r) : "";
  const used = Date.parse(r.last_used ?? "");
  return (
    <>
      <div className={`rules-row ${here ? "here" : ""} ${decides ? "decides" : ""} ${r.off ? "off" : ""}`} role="row" aria-selected={here} id={`rule-${r.number}`} title={visibleLine(r.text)} onClick={() => onChoose(keyOfRule(r))}>
        <span role="gridcell" className="tnum rules-number">{r.number}</span>
        <span role="gridcell"><DecisionWord tone={ruleTone(r.decision)} mark>{ruleWord(r.decision)}</DecisionWord></span>
        <span role="gridcell" className="rules-calls ellipsis">{callWords(r)}</span>
        <span role="gridcell" className="rules-what">
          <span className={`ellipsis ${r.class === "default" ? "" : "mono"}`}><SafeLine text={elideMiddle(patternWords(r), 160)} /></span>
          {decides && <span className="rules-tag decides"><ArrowRight size={12} aria-hidden /> decides</span>}
          {r.off && <span className="rules-tag"><CircleOff size={12} aria-hidden /> off</span>}
          {r.shadowed_by ? <span className="rules-tag need"><Layers size={12} aria-hidden /> shadowed</span> : r.stale && <span className="rules-tag"><TimerOff size={12} aria-hidden /> stale</span>}
        </span>
        <span role="gridcell" className="tnum rules-hits">{r.hits.toLocaleString("en")}</span>
        <span role="gridcell" className="tnum rules-used">{used > 0 ? when(used) : "never"}</span>
      </div>
      {remedy && (
        <div className="rules-remedy" role="row">
          <span role="gridcell">
            <CornerDownRight size={13} aria-hidden />
            <span className="grow">{remedy}{!r.editable && r.origin === "project" ? " It stands in the project's file." : ""}</span>
            {r.shadowed_by && move && <Button look="small" disabled={busy} onClick={() => onMove(r)}>Move above {r.shadowed_by}</Button>}
            {r.off && <Button look="small" disabled={busy} onClick={() => onTurn(r)}>Turn on {here && <KeyOf of="rules.turn" />}</Button>}
            {r.editable && <Button look="small" disabled={busy} onClick={() => onRemove(r)}>Delete {here && <KeyOf of="rules.delete" />}</Button>}
          </span>
        </div>
      )}
    </>
  );
}
