import { CircleOff, Layers, Plus, Search, TimerOff } from "lucide-react";
import type { RefObject } from "react";
import type { GateRuleList } from "../../api/types";
import type { RuleFilter } from "../../model/gate-rules";
import { countShown, MODE_WORDS, MODES } from "../../model/gate-rules";
import { Button, KeyOf } from "../../ui/Button";
import { FilterChip } from "../../ui/FilterChip";
import { SafeText } from "../../ui/SafeText";

type Props = { list: GateRuleList; busy: boolean; filter: RuleFilter; find: RefObject<HTMLInputElement | null>; onNew(): void; onFilter(f: RuleFilter): void; onMode(mode: string): void };

/** What is shown of the rules, and how the gate works in the channel. */
export function RuleHead({ list, busy, filter, find, onNew, onFilter, onMode }: Props) {
  const show = [["all", "All", null], ["shadowed", "Shadowed", Layers], ["stale", "Stale", TimerOff], ["off", "Off", CircleOff]] as const;
  const own = list.mode_from !== "settings";
  const said = list.enabled ? MODE_WORDS[list.mode] : "The gate is off in the settings: programs that start from now on are not held at all.";
  return (
    <>
      <header className="rules-head">
        <label className="rules-find">
          <Search size={13} aria-hidden />
          <input ref={find} className="field" type="search" aria-label="Filter the rules" placeholder={`Filter ${(list.rules ?? []).length} rules`} value={filter.text} onChange={(e) => onFilter({ ...filter, text: e.target.value })} />
        </label>
        {show.map(([id, word, Icon]) => (
          <FilterChip key={id} on={filter.show === id} onChoose={() => onFilter({ ...filter, show: id })}>
            {Icon && <Icon size={13} aria-hidden />} {word}{id === "all" ? "" : ` ${countShown(list, id)}`}
          </FilterChip>
        ))}
        <span className="grow" />
        <Button look="small" onClick={onNew}><Plus size={13} aria-hidden /> New rule <KeyOf of="rules.new" /></Button>
        <span className="rules-modes" role="group" aria-label="Mode of this channel">
          {MODES.map(([id, word]) => <button key={id} type="button" aria-pressed={list.mode === id} disabled={busy || list.channel_id === ""} onClick={() => list.mode !== id && onMode(id)}>{word}</button>)}
        </span>
      </header>
      {(said || own) && (
        <p className={`rules-mode ${said ? "need" : ""}`}>
          <span>{said || "The gate holds here."} {own && <>The mode is that of <span className="mono"><SafeText text={list.mode_from} /></span>. </>}It counts at once, also for programs that run.</span>
          {own && <Button look="small" disabled={busy} onClick={() => onMode("")}>As the settings say</Button>}
        </p>
      )}
    </>
  );
}
