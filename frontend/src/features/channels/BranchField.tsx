import { Check, GitBranch } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useId, useRef, useState } from "react";
import type { Branch } from "../../api/types";
import { when } from "../../model/clock";
import { branchesFor, placeOf } from "../../model/branchlist";
import { SafeLine } from "../../ui/SafeText";

type Props = { id: string; label: string; hint: string; value: string; placeholder: string; branches: readonly Branch[]; free: boolean; onChange(text: string): void };

/** A field for a branch, with those that there are below it. free: one that is checked out elsewhere cannot be chosen. */
export function BranchField({ id, label, hint, value, placeholder, branches, free, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const fits = branchesFor(branches, value);
  const taken = (b: Branch) => free && Boolean(b.where);
  const shown = open && fits.length > 0 && !(fits.length === 1 && fits[0]?.name === value);
  useEffect(() => box.current?.querySelector(".on")?.scrollIntoView({ block: "nearest" }), [at]);

  const choose = (b: Branch | undefined) => {
    if (!b || taken(b)) return;
    onChange(b.name);
    setOpen(false);
    setAt(-1);
  };
  function onKeyDown(e: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) {
      setOpen(true);
      setAt(Math.max(-1, Math.min(fits.length - 1, (shown ? at : -1) + step)));
    } else if (e.key === "Enter" && shown && at >= 0) choose(fits[at]);
    else if (e.key === "Escape" && shown) {
      setOpen(false);
    } else return;
    e.preventDefault();
  }
  return (
    <div className="branch" onBlur={() => setOpen(false)}>
      <label className="label" htmlFor={id}>{label}</label>
      <input
        id={id} className="field" value={value} maxLength={200} spellCheck={false} autoComplete="off" placeholder={placeholder} role="combobox" aria-expanded={shown} data-escape={shown ? "" : undefined} aria-controls={list}
        aria-autocomplete="list" aria-activedescendant={shown && at >= 0 ? `${list}-${at}` : undefined} aria-describedby={`${id}-hint`}
        onChange={(e) => { onChange(e.target.value); setOpen(true); setAt(-1); }} onClick={() => setOpen(true)} onKeyDown={onKeyDown}
      />
      {shown && (
        <div className="branch-list" id={list} role="listbox" aria-label="Branches" ref={box}>
          {fits.map((b, i) => (
            <div key={b.name} id={`${list}-${i}`} role="option" aria-selected={i === at} aria-disabled={taken(b)} className={`branch-row ${i === at ? "on" : ""} ${taken(b) ? "branch-taken" : ""}`}
              title={b.subject} onMouseDown={(e) => e.preventDefault()} onClick={() => choose(b)}>
              {b.current ? <Check size={13} aria-hidden /> : <GitBranch size={13} aria-hidden />}
              <span className="mono ellipsis branch-name"><SafeLine text={b.name} /></span>
              <span className="branch-place ellipsis"><SafeLine text={placeOf(b)} /></span>
              <span className="tnum branch-when">{b.at_ms > 0 && when(b.at_ms)}</span>
            </div>
          ))}
        </div>
      )}
      <p className="hint" id={`${id}-hint`}>{hint}</p>
    </div>
  );
}
