import type { CSSProperties, KeyboardEvent, RefObject } from "react";
import { useState } from "react";
import type { SettingsField, SettingsProblem } from "../../api/types";
import { visible } from "../../model/text";
import { Kbd } from "../../ui/Button";
import { keys, MOD } from "../../ui/keys";
import { OptionList } from "../../ui/OptionList";
import { useCompletion, write } from "./useCompletion";
import "./raw.css";

type Props = {
  id: string; box: RefObject<HTMLTextAreaElement | null>; text: string; problems: SettingsProblem[]; titles: SettingsField[] | null;
  onText(text: string): void; onSave(): void;
};

const TAB = 2;
const INDENT = "  ";

/** The columns of a text on the screen; a tab goes to the next stop. */
const columns = (text: string) => [...text].reduce((n, c) => n + (c === "\t" ? TAB - (n % TAB) : 1), 0);

/** A text with the numbers of its lines, what is wrong at its place, and a list of what could be written. */
export function RawEditor({ id, box, text, problems, titles, onText, onSave }: Props) {
  const [caret, setCaret] = useState(0);
  const list = useCompletion(box, text, caret, titles ?? []);
  const lines = text.split("\n");
  const before = text.slice(0, list.from).split("\n");
  const listAt = { "--line": before.length, "--col": Math.min(columns(before.at(-1) ?? ""), 40) } as CSSProperties;
  const byLine = new Map<number, SettingsProblem>();
  for (const p of problems) if (p.line > 0 && (!byLine.has(p.line) || (byLine.get(p.line)?.warning && !p.warning))) byLine.set(p.line, p);

  const onKeyDown = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (e.nativeEvent.isComposing || list.onKey(e)) return;
    if ((e.key === "s" || e.key === "S") && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      onSave();
    } else if (e.key === "Enter" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey) {
      const el = e.currentTarget;
      const line = text.slice(0, el.selectionStart).split("\n").at(-1) ?? "";
      const deeper = /[{[]\s*$/.test(line) ? INDENT : "";
      e.preventDefault();
      write(el, el.selectionStart, el.selectionEnd, `\n${/^[ \t]*/.exec(line)?.[0] ?? ""}${deeper}`);
    }
  };

  return (
    <>
      <div className="raw" {...(list.shown ? { "data-escape": "" } : {})}>
        <pre className="raw-lines" aria-hidden>{lines.map((_, i) => i + 1).join("\n")}</pre>
        <div className="raw-sheet">
          <pre className="raw-size" aria-hidden>{`${text}\n`}</pre>
          {[...byLine].map(([line, p]) => (
            <div key={line} aria-hidden className={`raw-problem ${p.warning ? "raw-warning" : ""}`} style={{ "--line": line - 1, "--col": columns([...(lines[line - 1] ?? "")].slice(0, Math.max(0, p.col - 1)).join("")), "--end": columns(lines[line - 1] ?? "") } as CSSProperties}>
              <span className="raw-mark" />
              <span className="raw-said">{visible(p.message)}</span>
            </div>
          ))}
          <textarea
            id={id} ref={box} className="raw-text" wrap="off" spellCheck={false} autoComplete="off" autoCapitalize="off" value={text} rows={lines.length} aria-describedby={`${id}-keys`}
            aria-autocomplete="list" aria-controls={list.shown ? list.id : undefined} aria-activedescendant={list.shown ? `${list.id}-${list.active}` : undefined}
            aria-invalid={problems.some((p) => !p.warning) || undefined}
            onChange={(e) => {
              onText(e.target.value);
              setCaret(e.target.selectionStart);
              list.typed((e.nativeEvent as InputEvent).data ?? null);
            }}
            onSelect={(e) => setCaret(e.currentTarget.selectionStart)} onKeyDown={onKeyDown} onBlur={list.close}
          />
          {list.shown && (
            <div className="raw-list" style={listAt}>
              <OptionList id={list.id} name="What could be written here" options={list.list} active={list.active} mono onPoint={list.point} onChoose={list.choose} />
            </div>
          )}
        </div>
      </div>
      <p className="hint" id={`${id}-keys`}><Kbd>Ctrl Space</Kbd> what could be written here, <Kbd>{keys(MOD, "S")}</Kbd> save</p>
    </>
  );
}
