import { ChevronDown } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useId, useRef, useState } from "react";
import type { Option } from "./OptionList";
import { OptionList } from "./OptionList";

type Props = {
  id: string; name: string; value: string; options: Option[]; placeholder?: string; disabled?: boolean; invalid?: boolean; describedBy?: string;
  onText(text: string): void; // each letter
  onChoose(text: string): void; // an option
  onKey?(e: KeyboardEvent): void; // what the list does not take
};

/** A field with a list of what is usual. Everything else can be typed, too. */
export function Combobox({ id, name, value, options, placeholder, disabled, invalid, describedBy, onText, onChoose, onKey }: Props) {
  const list = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const [filters, setFilters] = useState(false); // what is typed filters; a value that was there does not
  const box = useRef<HTMLInputElement>(null);
  const q = filters ? value.trim().toLowerCase() : "";
  const fits = options.filter((o) => o.label.toLowerCase().includes(q) || o.says.toLowerCase().includes(q));
  const shown = open && !disabled && fits.length > 0;
  const show = (on: boolean) => {
    setOpen(on);
    setFilters(false);
    setAt(on ? options.findIndex((o) => o.label === value) : -1);
  };
  function choose(i: number) {
    const o = fits[i];
    show(false);
    if (o) onChoose(o.label);
  }
  function onKeyDown(e: KeyboardEvent) {
    const plain = !e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey;
    if (plain && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      if (!shown) show(true);
      else setAt((now) => (e.key === "ArrowDown" ? (now + 1) % fits.length : (Math.max(now, 0) + fits.length - 1) % fits.length));
    } else if (plain && e.key === "Enter" && shown && at >= 0) choose(at);
    else if (plain && e.key === "Escape" && shown) show(false);
    else {
      onKey?.(e);
      return;
    }
    e.preventDefault();
  }
  return (
    <div className="combobox" {...(shown ? { "data-escape": "" } : {})}>
      <input
        ref={box} id={id} className="field mono" role="combobox" spellCheck={false} autoComplete="off" value={value} placeholder={placeholder} disabled={disabled}
        aria-expanded={shown} aria-controls={shown ? list : undefined} aria-autocomplete="list" aria-invalid={invalid || undefined} aria-describedby={describedBy}
        aria-activedescendant={shown && at >= 0 ? `${list}-${at}` : undefined}
        onChange={(e) => { onText(e.target.value); setOpen(true); setFilters(true); setAt(-1); }}
        onKeyDown={onKeyDown} onBlur={() => show(false)}
      />
      <button type="button" className="combobox-open" tabIndex={-1} aria-label={`List for ${name}`} disabled={disabled} onMouseDown={(e) => { e.preventDefault(); box.current?.focus(); show(!shown); }}>
        <ChevronDown size={14} aria-hidden />
      </button>
      {shown && <OptionList id={list} name={name} options={fits} active={at} mono onPoint={setAt} onChoose={choose} />}
    </div>
  );
}
