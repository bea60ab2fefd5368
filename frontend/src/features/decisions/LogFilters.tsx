import { FileText, Globe, Plug, Search, SquareTerminal } from "lucide-react";
import type { RefObject } from "react";
import type { LogFilter } from "../../model/gate-log";
import { FilterChip } from "../../ui/FilterChip";

type Props = { filter: LogFilter; onFilter(f: LogFilter): void; all: number; asked: number; denied: number; find: RefObject<HTMLInputElement | null> };

const KINDS = [["file", "Files", FileText], ["execve", "Programs", SquareTerminal], ["connect", "Sockets", Plug], ["navigate", "Sites", Globe]] as const;

/** What is shown of a run's entries. */
export function LogFilters({ filter, onFilter, all, asked, denied, find }: Props) {
  const show = [["all", "All", all], ["asked", "Asked", asked], ["denied", "Denied", denied]] as const;
  return (
    <div className="decisions-filters">
      {show.map(([id, word, n]) => (
        <FilterChip key={id} on={filter.show === id} onChoose={() => onFilter({ ...filter, show: id })}>{word} {n.toLocaleString("en")}</FilterChip>
      ))}
      <span className="decisions-line" aria-hidden />
      {KINDS.map(([id, word, Icon]) => (
        <FilterChip key={id} on={filter.kind === id} onChoose={() => onFilter({ ...filter, kind: filter.kind === id ? "" : id })}><Icon size={13} aria-hidden /> {word}</FilterChip>
      ))}
      <span className="grow" />
      <label className="decisions-find">
        <Search size={13} aria-hidden />
        <input ref={find} className="field" type="search" aria-label="Find in the entries" placeholder="Find" value={filter.text} onChange={(e) => onFilter({ ...filter, text: e.target.value })} />
      </label>
    </div>
  );
}
