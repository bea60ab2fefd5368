import type { ISearchOptions, SearchAddon } from "@xterm/addon-search";
import { CaseSensitive, ChevronDown, ChevronUp, Regex, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../../ui/Button";
import { composing } from "../../ui/keys";
import "../../ui/searchbar.css";
import { terminalInk } from "./theme";

const LIMIT = 2000; // the addon's own limit, see pane.ts
const MAX_PRESET = 200;
const ROWS = 3; // rows that the box covers

let last = ""; // the last text searched for, in any terminal
let found = ""; // the selected hit when that search ended

/** The person's own selection, else the text of the last search. */
function preset(selected: string): string {
  return selected && selected !== found && selected.length <= MAX_PRESET && !selected.includes("\n") ? selected : last;
}

/** Finds text in the whole scrollback, newest first. */
export function SearchBox({ search, asked, selected, row, onClose }: { search: SearchAddon; asked: number; selected(): string; row(): number; onClose(): void }) {
  const [text, setText] = useState(() => preset(selected()));
  const [regex, setRegex] = useState(false);
  const [cased, setCased] = useState(false);
  const [hits, setHits] = useState({ at: -1, of: 0 });
  const [wrong, setWrong] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef({ selected, row });
  const [low, setLow] = useState(false); // the box must not cover its hit

  useEffect(() => {
    const { selected: now, row: at } = latest.current;
    const d = search.onDidChangeResults((r) => {
      setHits({ at: r.resultIndex, of: r.resultCount });
      setLow(r.resultIndex >= 0 && at() < ROWS);
    });
    return () => {
      d.dispose();
      search.clearDecorations();
      found = now();
    };
  }, [search]);

  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [asked]);

  function options(incremental: boolean): ISearchOptions {
    const ink = terminalInk();
    return { regex, caseSensitive: cased, incremental, decorations: { matchBackground: ink.found, activeMatchBackground: ink.foundHere, activeMatchBorder: ink.work, matchOverviewRuler: ink.foundHere, activeMatchColorOverviewRuler: ink.work } };
  }
  function go(step: 1 | -1, incremental = false) {
    if (!valid(text, regex)) return;
    if (step > 0 && !incremental) search.findNext(text, options(false));
    else search.findPrevious(text, options(incremental));
  }
  useEffect(() => {
    const ok = valid(text, regex);
    last = text;
    setWrong(!ok);
    search.clearDecorations();
    if (text === "" || !ok) return setHits({ at: -1, of: 0 });
    const t = setTimeout(() => go(-1, true), 60);
    return () => clearTimeout(t);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- go depends on these alone
  }, [text, regex, cased, search]);

  const count = wrong ? "No valid expression" : text === "" ? "" : hits.of === 0 ? "Nothing found" : `${hits.at < 0 ? "?" : hits.at + 1} of ${hits.of >= LIMIT ? `${LIMIT}+` : hits.of}`;
  return (
    <div className={`searchbar term-search ${low ? "low" : ""}`} role="search" onKeyDown={(e) => {
      if (composing(e)) return;
      if (e.key === "Escape") {
        // Otherwise WebKit's keypress goes to the terminal, which has the focus by then.
        e.preventDefault();
        e.stopPropagation();
        onClose();
      } else if (e.key === "Enter" && e.target === field.current) {
        e.preventDefault();
        go(e.shiftKey ? 1 : -1);
      }
    }}>
      <input ref={field} className="field" aria-label="Find in the terminal" placeholder="Find" value={text} spellCheck={false} aria-invalid={wrong} onChange={(e) => setText(e.target.value)} />
      <span className="tnum searchbar-count" role="status">{count}</span>
      <IconButton small name="Match case" aria-pressed={cased} onClick={() => setCased(!cased)}><CaseSensitive size={14} /></IconButton>
      <IconButton small name="Regular expression" aria-pressed={regex} onClick={() => setRegex(!regex)}><Regex size={14} /></IconButton>
      <IconButton small name="Earlier match" keys="Enter" disabled={hits.of === 0} onClick={() => go(-1)}><ChevronUp size={14} /></IconButton>
      <IconButton small name="Later match" keys="Shift Enter" disabled={hits.of === 0} onClick={() => go(1)}><ChevronDown size={14} /></IconButton>
      <IconButton small name="Close the search" keys="Esc" onClick={onClose}><X size={14} /></IconButton>
    </div>
  );
}

function valid(text: string, regex: boolean): boolean {
  if (!regex) return true;
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
