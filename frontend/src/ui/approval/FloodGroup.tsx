import { Check, ChevronRight, FilePen, FileSearch, Globe, KeyRound, ListOrdered, Plug, SquareTerminal, X } from "lucide-react";
import { useState } from "react";
import type { Approval, ApprovalGroup, GroupVerdict } from "../../api/types";
import { precise } from "../../model/clock";
import { isGrave, verb } from "../../model/gate";
import type { Chosen } from "../../model/gate-flood";
import { groupName, ITEMS_SHOWN, verdictsOf, verdictWords } from "../../model/gate-flood";
import { elideMiddle, visibleLine } from "../../model/gate-text";
import { Button, IconButton } from "../Button";
import { SafeLine, SafeText } from "../SafeText";

const TARGET_MAX = 120;
const ITEM_MAX = 160;
const MARKS = { deny: X, once: Check, run: Check, ask: ListOrdered };

type Props = {
  g: ApprovalGroup; a: Approval; chosen: Chosen; current: boolean; open: boolean; busy: boolean;
  onFocus(): void; onOpen(open: boolean): void; onChoose(v: GroupVerdict): void;
};

/** Calls that do the same, with the answers that they can have. It has the keyboard as a whole. */
export function FloodGroup({ g, a, chosen, current, open, busy, onFocus, onOpen, onChoose }: Props) {
  const does = verb(g);
  const Icon = isGrave(g) ? KeyRound : g.kind === "navigate" ? Globe : g.kind === "connect" ? Plug : g.kind === "execve" ? SquareTerminal : g.operation === "read" ? FileSearch : FilePen;
  const name = visibleLine(groupName(g, does, chosen, a));
  const capital = does.charAt(0).toUpperCase() + does.slice(1).replace(/ to$/, "");
  return (
    <li>
      <div className="flood-group" role="group" tabIndex={current ? 0 : -1} data-group={g.id} aria-label={name} onFocus={onFocus}>
        <IconButton small data-quiet tabIndex={-1} name={open ? "Hide the calls" : "Show the calls"} keys={open ? "←" : "→"} aria-expanded={open} onClick={() => onOpen(!open)}>
          <ChevronRight size={13} className={`flood-twist ${open ? "open" : ""}`} />
        </IconButton>
        <span className="flood-count tnum">{g.calls}</span>
        <span className="flood-verb"><Icon size={14} aria-hidden /> {capital}</span>
        <span className="flood-what">
          <span className="mono"><SafeLine text={elideMiddle(g.target, TARGET_MAX)} />{g.wide && <b>{g.wide}</b>}</span>
          <span className="flood-why">{g.once_only ? "never a rule: " : ""}{g.why && <SafeText text={g.why} />}</span>
        </span>
        <span className="flood-choices">
          {verdictsOf(g).map((v) => <Choice key={v} v={v} words={verdictWords(v, a)} on={chosen[g.id] === v} busy={busy} onChoose={onChoose} />)}
        </span>
      </div>
      {open && <Items g={g} />}
    </li>
  );
}

function Choice({ v, words, on, busy, onChoose }: { v: GroupVerdict; words: string; on: boolean; busy: boolean; onChoose(v: GroupVerdict): void }) {
  const Mark = MARKS[v];
  return (
    <Button look={`flood-choice ${on ? `on ${v}` : ""}`} data-quiet disabled={busy} aria-pressed={on} onClick={() => onChoose(v)}>
      {on && <Mark size={13} aria-hidden />}
      {words}
    </Button>
  );
}

function Items({ g }: { g: ApprovalGroup }) {
  const [all, setAll] = useState(false);
  const items = g.items ?? [];
  const shown = all ? items : items.slice(0, ITEMS_SHOWN);
  const told = items.reduce((n, i) => n + i.calls, 0);
  return (
    <div className="flood-items">
      <ul aria-label="Calls of this group">
        {shown.map((i, n) => (
          <li key={n}>
            <span className="mono"><SafeLine text={elideMiddle(i.target, ITEM_MAX)} /></span>
            <span>{i.calls > 1 ? `× ${i.calls}` : ""}</span>
            <span>{i.operation}</span>
            <span className="tnum">{precise(Date.parse(i.at))}</span>
          </li>
        ))}
      </ul>
      {!all && items.length > ITEMS_SHOWN && <button type="button" className="link small" data-quiet onClick={() => setAll(true)}>Show {items.length - ITEMS_SHOWN} more</button>}
      {(all || items.length <= ITEMS_SHOWN) && g.calls > told && <p className="muted">and {g.calls - told} more calls</p>}
    </div>
  );
}
