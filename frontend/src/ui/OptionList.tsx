import { useEffect, useRef } from "react";
import { SafeText } from "./SafeText";
import "./optionlist.css";

export type Option = { label: string; says: string };

type Props = { id: string; name: string; options: Option[]; active: number; mono?: boolean; onPoint(i: number): void; onChoose(i: number): void };

/** The options of a field that keeps the focus. The field names the active one by aria-activedescendant: its id is the list's with its number behind. */
export function OptionList({ id, name, options, active, mono, onPoint, onChoose }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active, options]);
  return (
    <div className="optionlist" role="listbox" aria-label={name} id={id} ref={list}>
      {options.map((o, i) => (
        <div
          key={o.label}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === active}
          className="optionlist-row"
          onMouseDown={(e) => e.preventDefault()}
          onMouseMove={() => onPoint(i)}
          onClick={() => onChoose(i)}
        >
          <span className={mono ? "mono" : ""}><SafeText text={o.label} /></span>
          {o.says && <span className="optionlist-says"><SafeText text={o.says} /></span>}
        </div>
      ))}
    </div>
  );
}
