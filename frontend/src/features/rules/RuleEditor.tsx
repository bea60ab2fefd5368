import { Layers, OctagonX } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useId, useRef } from "react";
import type { Failure, GateRuleClass, GateRuleList, GateRuleMatches } from "../../api/types";
import type { RuleDraft } from "../../model/rule-draft";
import { CLASSES, DECISIONS, missingOf, OPERATIONS, SCOPES, shadowWords } from "../../model/rule-draft";
import { ruleTone } from "../../model/gate-rules";
import { Button, Kbd } from "../../ui/Button";
import { DecisionWord } from "../../ui/DecisionWord";
import { keys, MOD } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { RuleMatched } from "./RuleMatched";

type Props = {
  list: GateRuleList; d: RuleDraft; said: GateRuleMatches | null; refused: Failure | null; busy: boolean;
  onDraft(d: RuleDraft): void; onSave(): void; onClose(): void;
};

const PATTERNS: Record<string, { name: string; hint: string; holder: string }> = {
  file_rules: { name: "Files, one pattern on each line", hint: "From the root on; /home/* is any home, /** all below a folder.", holder: "/home/*/.config/gh/**" },
  command_rules: { name: "Programs, one on each line", hint: "The name without its folder. Rules for programs are advice: a program can be run under another name.", holder: "git" },
  path_rules: { name: "Socket", hint: "The path of a Unix socket, or @ and the name of an abstract one.", holder: "/run/postgresql/*.sock" },
  site_rules: { name: "Sites, one on each line", hint: "example.com is that host alone, *.example.com all below it. What you open yourself is never asked about.", holder: "example.com\n*.example.com" },
};

/** A rule while it is written, and below it what it would have matched. Nothing is changed before it is saved. */
export function RuleEditor({ list, d, said, refused, busy, onDraft, onSave, onClose }: Props) {
  const first = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const set = (more: Partial<RuleDraft>) => onDraft({ ...d, ...more });
  const what = PATTERNS[d.class] ?? { name: "", hint: "", holder: "" };
  const missing = missingOf(d);
  const why = refused ?? said?.refused ?? null;
  const ready = !missing && said !== null && !why && !busy;
  useEffect(() => { // unless the person went elsewhere while the rules were read
    const at = document.activeElement;
    if (!at || at === document.body || at.closest(".rules, [data-over]")) first.current?.focus();
  }, []);

  function onKeyDown(e: KeyboardEvent) {
    const save = e.key === "Enter" && (e.ctrlKey || e.metaKey);
    if (e.key !== "Escape" && !save) return;
    e.preventDefault();
    e.stopPropagation();
    if (!save) onClose();
    else if (ready) onSave();
  }

  return (
    <form className="rules-editor" aria-label={d.change ? `Change of rule ${d.change.number}` : "New rule"} onKeyDown={onKeyDown}
      onSubmit={(e) => { e.preventDefault(); if (ready) onSave(); }}>
      <h3>{d.change ? `Change rule ${d.change.number}` : "New rule"}</h3>
      <div className="rules-pair">
        <label><span className="label">Kind</span>
          <select className="field" value={d.class} disabled={d.change !== null} onChange={(e) => set({ class: e.target.value as GateRuleClass })}>
            {CLASSES.map(([c, word]) => <option key={c} value={c}>{word}</option>)}
          </select>
        </label>
        <label><span className="label">It holds</span>
          <select className="field" value={d.scope} disabled={d.change !== null} onChange={(e) => set({ scope: e.target.value === "always" ? "always" : "project" })}>
            {SCOPES.map(([s, word]) => <option key={s} value={s}>{word}</option>)}
          </select>
        </label>
      </div>
      {d.change && <p className="rules-quiet">Kind and reach stay. For others write a new rule and delete this one.</p>}
      <fieldset className="rules-choice">
        <legend className="label">Decision</legend>
        {DECISIONS.map(([c, word]) => (
          <label key={c}><input type="radio" name={`${id}-decision`} checked={d.decision === c} onChange={() => set({ decision: c })} /> <DecisionWord tone={ruleTone(c)}>{word}</DecisionWord></label>
        ))}
      </fieldset>
      {d.class === "file_rules" && (
        <fieldset className="rules-choice">
          <legend className="label">Operations</legend>
          {OPERATIONS.map((op) => (
            <label key={op}>
              <input type="checkbox" checked={d.operations.includes(op)}
                onChange={(e) => set({ operations: e.target.checked ? [...d.operations, op] : d.operations.filter((o) => o !== op) })} /> {op}
            </label>
          ))}
        </fieldset>
      )}
      <label>
        <span className="label">{what.name}</span>
        <textarea ref={first} className="field mono" rows={d.class === "path_rules" ? 1 : 2} spellCheck={false} autoComplete="off" aria-describedby={`${id}-hint`}
          placeholder={what.holder} value={d.patterns} onChange={(e) => set({ patterns: e.target.value })} />
      </label>
      <p className="rules-quiet" id={`${id}-hint`}>{what.hint}</p>
      {d.class === "command_rules" && (
        <label>
          <span className="label">Arguments, one expression on each line <span className="rules-quiet">if any will do, none</span></span>
          <textarea className="field mono" rows={1} spellCheck={false} autoComplete="off" placeholder="^push\b.*--force" value={d.args} onChange={(e) => set({ args: e.target.value })} />
        </label>
      )}
      <label>
        <span className="label">Reason <span className="rules-quiet">who is asked reads it; may be empty</span></span>
        <input className="field" autoComplete="off" value={d.message} onChange={(e) => set({ message: e.target.value })} />
      </label>
      <div className="rules-said" aria-live="polite">
        {missing && <p className="rules-quiet">{missing}</p>}
        {!missing && why && <p className="rules-refused"><OctagonX size={14} aria-hidden /> <span><SafeText text={why.cause} /> <SafeText text={why.remedy ?? ""} /></span></p>}
        {!missing && said && <p><SafeText text={said.text} /></p>}
        {!missing && said && shadowWords(list, said).map((w) => <p key={w} className="rules-shadow"><Layers size={14} aria-hidden /> <span><SafeText text={w} /></span></p>)}
      </div>
      {!missing && said && <RuleMatched m={said} />}
      <footer>
        <Button type="submit" look="primary" disabled={!ready}>Save <Kbd>{keys(MOD, "Enter")}</Kbd></Button>
        <Button onClick={onClose}>Cancel <Kbd>Esc</Kbd></Button>
      </footer>
    </form>
  );
}
