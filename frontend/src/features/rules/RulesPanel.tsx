import { ShieldCheck, TriangleAlert } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID, GateRule, GateSuggestion } from "../../api/types";
import { arrive, leave } from "../../dock/visit";
import type { RuleFilter, TryKind } from "../../model/gate-rules";
import { callOf, editOf, keyOfRule, moveOf, NO_RULE_FILTER, problemOf, ruleGroups, rulesSummary, sampleOf, stepOf } from "../../model/gate-rules";
import type { RuleDraft } from "../../model/rule-draft";
import { candidateOf, draftOf, missingOf, NEW_RULE, savedOf, savingOf } from "../../model/rule-draft";
import { begunRuleStore, toast } from "../../model/stores";
import { session } from "../../session/session";
import { Button, Kbd, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { RuleEditor } from "./RuleEditor";
import { RuleFacts } from "./RuleFacts";
import { RuleHead } from "./RuleHead";
import { RuleList } from "./RuleList";
import { KEYED, RuleSuggestions } from "./RuleSuggestions";
import { RuleTest } from "./RuleTest";
import { useMatches, useRules, useSuggestions, useTry } from "./useRules";
import { meaning } from "../../ui/keys";
import "./rules.css";

/** The rules that count in a channel, in the order in which they are tried. */
export function RulesPanel({ channelId }: { channelId: ChannelID }) {
  const { list, failure, busy, load, change, undo } = useRules(channelId);
  const [filter, setFilter] = useState<RuleFilter>(NO_RULE_FILTER);
  const [at, setAt] = useState("");
  const [kind, setKind] = useState<TryKind>("write");
  const [typed, setTyped] = useState("");
  const [draft, setDraft] = useState<RuleDraft | null>(null);
  const body = useRef<HTMLElement>(null);
  const begun = useRef<RuleDraft>(null); // the draft before the first change of it
  const find = useRef<HTMLInputElement>(null);
  const test = useRef<HTMLInputElement>(null);
  const { answer, failure: refused } = useTry(channelId, callOf(kind, typed), list?.version ?? "");
  const written = useMatches(channelId, draft && !missingOf(draft) ? candidateOf(draft) : null, list?.version ?? "");
  const suggested = useSuggestions(channelId, list?.version ?? "");
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
  const toList = () => (body.current?.querySelector<HTMLElement>(".rules-list") ?? body.current)?.focus();
  const told = (text: string, id: string | undefined) => id && toast(text, null, { name: "Undo", run: () => void undo(id) });
  const own = (r: GateRule): boolean => {
    if (!r.editable) toast(r.origin === "project" ? "This rule stands in the project's file. Change it there." : "This rule is Loop's own and stays. A rule of yours comes before most of them.");
    return Boolean(r.editable);
  };
  const remove = async (r: GateRule) => {
    if (!list || busy || !own(r)) return;
    const l = await change(() => edits.edit(editOf(list, r, { action: "remove" })));
    told(`Rule ${r.number} was deleted.`, l?.undo?.id);
  };
  const turn = async (r: GateRule) => {
    if (!list || busy || !own(r)) return;
    const l = await change(() => edits.edit(editOf(list, r, { action: r.off ? "on" : "off" })));
    told(`Rule ${r.number} is ${r.off ? "on" : "off"}.`, l?.undo?.id);
  };
  const save = async (d: RuleDraft) => {
    if (!list || busy) return;
    const l = await change(() => edits.edit(savingOf(list, d)));
    if (!l) return; // the editor stays, with what is in it
    const row = savedOf(l, d);
    setDraft(null);
    setFilter(NO_RULE_FILTER);
    if (row) setAt(keyOfRule(row));
    toList();
    told(`Rule ${row?.number ?? ""} was saved. It counts from now on, also for programs that run.`, l.undo?.id);
  };
  const cancel = (d: RuleDraft) => {
    setDraft(null);
    toList();
    if (d !== begun.current) toast("The rule was not saved.", null, { name: "Go on", run: () => setDraft(d) });
  };
  const write = (d: RuleDraft) => {
    if (draft && draft !== begun.current) return toast("Save or cancel the rule that you are writing first.");
    begun.current = d;
    setDraft(d);
  };
  const elsewhere = useStore(begunRuleStore, (b) => (b.channel === channelId ? b.draft : null));
  const takeOver = useEffectEvent(write);
  useEffect(() => {
    if (!elsewhere) return;
    begunRuleStore.setState({ channel: "", draft: null });
    takeOver(elsewhere);
  }, [elsewhere]);
  const rewrite = (r: GateRule) => own(r) && r.rule && write(draftOf(r.rule, r.class, r.scope ?? "always", r));
  const review = (s: GateSuggestion) => write(draftOf(s.rule, s.class, "project", null));
  const move = async (r: GateRule, to: number | null) => {
    if (!list || busy) return;
    if (to === null) return toast("It cannot move further: rules move within their own list.");
    const l = await change(() => edits.edit(editOf(list, r, { action: "move", to })));
    const moved = l?.rules?.find((x) => x.origin === r.origin && x.class === r.class && x.index === to);
    if (moved) setAt(keyOfRule(moved));
    told(`Rule ${r.number} is now rule ${moved?.number ?? "—"}.`, l?.undo?.id);
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
    if (e.key === "Escape") return target.matches(".rules-list, .rules") ? leave(e.currentTarget as HTMLElement) : toList();
    if (target.closest(".rules-editor") || target.matches("input, select, textarea") || (target.matches("button") && (e.key === "Enter" || e.key === " "))) return;
    const act = (f: (r: GateRule) => unknown) => () => current && f(current);
    const step = (by: 1 | -1) => act((r) => list && move(r, stepOf(list, r, by)));
    const does: Record<string, () => unknown> = {
      "rules.up": step(-1), "rules.down": step(1), "rules.next": () => go(1), ArrowDown: () => go(1), "rules.previous": () => go(-1), ArrowUp: () => go(-1), PageDown: () => go(15), PageUp: () => go(-15), Home: () => go(-rows.length), End: () => go(rows.length),
      Enter: act(rewrite), "rules.test": act(tryRule), "rules.turn": act(turn), "rules.delete": act(remove), "rules.new": () => write(NEW_RULE),
      "rules.undo": () => list?.undo && undo(list.undo.id), "rules.filter": () => find.current?.focus(),
    };
    const nth = !e.altKey && !e.ctrlKey && !e.metaKey && Number(e.key) <= KEYED ? suggested.list?.[Number(e.key) - 1] : undefined;
    const f = nth ? () => review(nth) : does[meaning("rules", e)];
    if (!f) return;
    e.preventDefault();
    void f();
  }

  return (
    <section className="rules" aria-label="Rules" ref={body} tabIndex={-1} onFocus={arrive} onKeyDown={onKeyDown} data-region="rules">
      {list && <RuleHead list={list} busy={busy} filter={filter} onFilter={setFilter} find={find} onNew={() => write(NEW_RULE)} onMode={(m) => void change(() => edits.setMode(channelId, m))} />}
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
              <RuleList list={list} groups={groups} at={current ? at : ""} decides={answer?.number ?? 0} busy={busy} onChoose={setAt} onMove={(r) => void move(r, moveOf(list, r))} onRemove={(r) => void remove(r)} onTurn={(r) => void turn(r)} />
            )}
            <p className="rules-foot">
              <span aria-hidden><KeyOf of="rules.next" /> <KeyOf of="rules.previous" /> rule &nbsp; <Kbd>Enter</Kbd> change &nbsp; <KeyOf of="rules.turn" /> off or on &nbsp; <KeyOf of="rules.up" /> <KeyOf of="rules.down" /> move &nbsp; <KeyOf of="rules.test" /> test it</span>
              <span className="grow" />
              <span className="tnum" title={list.uncounted}>{rulesSummary(list)}</span>
              {list.undo && <Button look="small" disabled={busy} title={list.undo.text} onClick={() => list.undo && void undo(list.undo.id)}>Undo the last change <KeyOf of="rules.undo" /></Button>}
            </p>
          </div>
          <div className={`rules-right ${draft ? "writes" : ""}`}>
            {draft ? (
              <RuleEditor list={list} d={draft} said={written.matches} refused={written.failure} busy={busy} onDraft={setDraft} onSave={() => void save(draft)} onClose={() => cancel(draft)} />
            ) : (
              <>
                <RuleTest kind={kind} typed={typed} answer={answer} failure={refused} rules={list.rules ?? []} field={test} onKind={setKind} onType={setTyped} onShow={setAt} />
                {current && <RuleFacts r={current} busy={busy} onChange={() => rewrite(current)} onTurn={() => void turn(current)} onRemove={() => void remove(current)} onTest={() => tryRule(current)} />}
                <RuleSuggestions list={suggested.list} failure={suggested.failure} onOpen={review} />
              </>
            )}
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
