import { ShieldCheck, TriangleAlert } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import type { ChannelID, GateRule } from "../../api/types";
import type { RuleFilter, TryKind } from "../../model/gate-rules";
import { callOf, editOf, keyOfRule, moveOf, NO_RULE_FILTER, problemOf, ruleGroups, rulesSummary, sampleOf, stepOf } from "../../model/gate-rules";
import { toast } from "../../model/stores";
import { session } from "../../session/session";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { RuleFacts } from "./RuleFacts";
import { RuleHead } from "./RuleHead";
import { RuleList } from "./RuleList";
import { RuleTest } from "./RuleTest";
import { useRules, useTry } from "./useRules";
import "./rules.css";

/** The rules that count in a channel, in the order in which they are tried. */
export function RulesPanel({ channelId }: { channelId: ChannelID }) {
  const { list, failure, busy, load, change, undo } = useRules(channelId);
  const [filter, setFilter] = useState<RuleFilter>(NO_RULE_FILTER);
  const [at, setAt] = useState("");
  const [kind, setKind] = useState<TryKind>("write");
  const [typed, setTyped] = useState("");
  const find = useRef<HTMLInputElement>(null);
  const test = useRef<HTMLInputElement>(null);
  const { answer, failure: refused } = useTry(channelId, callOf(kind, typed), list?.version ?? "");
  const groups = useMemo(() => (list ? ruleGroups(list, filter) : []), [list, filter]);
  const rows = useMemo(() => groups.flatMap((g) => g.rules), [groups]);
  const place = rows.findIndex((r) => keyOfRule(r) === at);
  const current = rows[place];
  const problems = (list?.files ?? []).flatMap((f) => problemOf(f) ?? []);

  const go = (by: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, place >= 0 ? place + by : 0))];
    if (next) setAt(keyOfRule(next));
  };
  const edits = session().api.gateRules;
  const remove = async (r: GateRule) => {
    if (!list || busy) return;
    if (!r.editable) return toast(r.origin === "project" ? "This rule stands in the project's file. Change it there." : "This rule is Loop's own and stays.");
    const l = await change(() => edits.edit(editOf(list, r, { action: "remove" })));
    const id = l?.undo?.id;
    if (id) toast(`Rule ${r.number} was deleted.`, null, { name: "Undo", run: () => void undo(id) });
  };
  const move = async (r: GateRule, to: number | null) => {
    if (!list || busy) return;
    if (to === null) return toast("It cannot move further: rules move within their own list.");
    const l = await change(() => edits.edit(editOf(list, r, { action: "move", to })));
    const moved = l?.rules?.find((x) => x.origin === r.origin && x.class === r.class && x.index === to);
    if (moved) setAt(keyOfRule(moved));
    const id = l?.undo?.id;
    if (id) toast(`Rule ${r.number} is now rule ${moved?.number ?? "—"}.`, null, { name: "Undo", run: () => void undo(id) });
  };
  const tryRule = (r: GateRule) => {
    const sample = sampleOf(r);
    if (sample) {
      setKind(sample.kind);
      setTyped(sample.text);
    }
    test.current?.focus();
  };

  function onKeyDown(e: KeyboardEvent) {
    const target = e.target as HTMLElement;
    if (e.key === "Escape" && target.matches(".rules input")) {
      e.currentTarget.querySelector<HTMLElement>(".rules-list")?.focus();
      return;
    }
    if (e.ctrlKey || e.metaKey || target.matches("input, select, textarea") || (target.matches("button") && (e.key === "Enter" || e.key === " "))) return;
    const act = (f: (r: GateRule) => unknown) => () => current && f(current);
    const step = (by: 1 | -1) => act((r) => list && move(r, stepOf(list, r, by)));
    const does: Record<string, () => unknown> = e.altKey ? { ArrowUp: step(-1), ArrowDown: step(1) } : {
      j: () => go(1), ArrowDown: () => go(1), k: () => go(-1), ArrowUp: () => go(-1), PageDown: () => go(15), PageUp: () => go(-15), Home: () => go(-rows.length), End: () => go(rows.length),
      Enter: act(tryRule), t: act(tryRule), Delete: act(remove), u: () => list?.undo && undo(list.undo.id), "/": () => find.current?.focus(),
    };
    const f = does[e.key];
    if (!f) return;
    e.preventDefault();
    void f();
  }

  return (
    <section className="rules" aria-label="Rules" tabIndex={-1} onKeyDown={onKeyDown} data-region="rules">
      {list && <RuleHead list={list} busy={busy} filter={filter} onFilter={setFilter} find={find} onMode={(m) => void change(() => edits.setMode(channelId, m))} />}
      {problems.map((p) => (
        <div key={p.line} className="rules-problem" role="alert">
          <TriangleAlert size={14} aria-hidden />
          <span><SafeText text={p.line} /> <SafeText text={p.remedy} /></span>
        </div>
      ))}
      {failure && <div className="rules-pad"><FailureCard failure={failure}><Button look="small" onClick={() => void load()}>Try again</Button></FailureCard></div>}
      {!failure && !list && <Skeleton />}
      {list && (
        <div className="rules-body">
          <div className="rules-left">
            {rows.length === 0 && groups.length === 0 ? (
              <div className="dock-empty">
                <ShieldCheck size={20} aria-hidden />
                <p>No rule fits the filter.</p>
                <Button look="small" onClick={() => setFilter(NO_RULE_FILTER)}>Show all</Button>
              </div>
            ) : (
              <RuleList list={list} groups={groups} at={current ? at : ""} decides={answer?.number ?? 0} busy={busy} onChoose={setAt} onMove={(r) => void move(r, moveOf(list, r))} onRemove={(r) => void remove(r)} />
            )}
            <p className="rules-foot">
              <span aria-hidden><Kbd>J</Kbd> <Kbd>K</Kbd> rule &nbsp; <Kbd>Enter</Kbd> test it &nbsp; <Kbd>Alt ↑ ↓</Kbd> move &nbsp; <Kbd>Del</Kbd> delete</span>
              <span className="grow" />
              <span className="tnum" title={list.uncounted}>{rulesSummary(list)}</span>
              {list.undo && <Button look="small" disabled={busy} title={list.undo.text} onClick={() => list.undo && void undo(list.undo.id)}>Undo the last change</Button>}
            </p>
          </div>
          <div className="rules-right">
            <RuleTest kind={kind} typed={typed} answer={answer} failure={refused} rules={list.rules ?? []} field={test} onKind={setKind} onType={setTyped} onShow={setAt} />
            {current && <RuleFacts r={current} busy={busy} onRemove={() => void remove(current)} onTest={() => tryRule(current)} />}
          </div>
        </div>
      )}
    </section>
  );
}

function Skeleton() {
  return (
    <div className="rules-pad" role="status" aria-label="Reading the rules">
      {[60, 72, 48, 66, 54, 70].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}
    </div>
  );
}
