import { ChevronRight, ShieldCheck, ShieldX } from "lucide-react";
import type { GateDecisions } from "../../../api/types";
import { verb } from "../../../model/gate";
import { plural } from "../../../model/format";
import { byWords, decidedWords } from "../../../model/timeline/decided";
import type { DecidedItem } from "../../../model/timeline/items";
import { SafeLine, SafeText } from "../../../ui/SafeText";
import type { RowProps } from "./props";
import "./decided.css";

/** What rules decided of a tool call: a quiet line, which opens the list. */
export function DecidedRow({ item, open, onToggle }: RowProps<DecidedItem>) {
  const words = decidedWords(item.decided);
  const Icon = words.denied ? ShieldX : ShieldCheck;
  return (
    <div className="main">
      <button type="button" className={`line quiet decided ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <Icon size={14} aria-hidden />
        {words.allowed && <span className="decided-allowed">{words.allowed}</span>}
        {words.denied && <span className="decided-denied ellipsis"><SafeText text={words.denied} /></span>}
        {words.missed && <span className="decided-denied">{words.missed}</span>}
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && <div className="body"><Decisions d={item.decided} /></div>}
    </div>
  );
}

function Decisions({ d }: { d: GateDecisions }) {
  return (
    <ul className="decided-list selectable">
      {(d.decisions ?? []).map((x, i) => (
        <li key={`${x.id} ${i}`} className={x.state}>
          <span className="decided-state">{x.state === "allowed" ? "Allowed" : "Denied"}</span>
          <span className="mono decided-what">{verb(x)} <SafeLine text={x.target} />{x.calls > 1 && ` × ${x.calls}`}</span>
          <span className="decided-by"><SafeText text={byWords(x)} /></span>
          {(x.message || x.process) && <span className="decided-why"><SafeLine text={[x.message, x.process && `by ${x.process}`].filter(Boolean).join(", ")} /></span>}
        </li>
      ))}
      {(d.rules ?? []).map((r) => (
        <li key={`${r.rule} ${r.operation}`} className="allowed">
          <span className="decided-state">Allowed</span>
          <span className="decided-what">{r.operation}, {plural(r.calls, "call")}</span>
          <span className="decided-by"><SafeText text={`rule ${r.rule}`} /></span>
        </li>
      ))}
      {d.more ? <li className="denied"><span className="decided-state">Denied</span><span className="decided-what">{plural(d.more, "further call")}, not listed</span></li> : null}
      {d.unruled ? <li className="allowed"><span className="decided-state">Allowed</span><span className="decided-what">{plural(d.unruled, "call")} that no rule covers</span></li> : null}
    </ul>
  );
}
