import type { KeyboardEvent, RefObject } from "react";
import { useEffect, useId, useState } from "react";
import type { SettingsField } from "../../api/types";
import type { Completion, Schema, Spot } from "../../model/jsonc";
import { completions, spotAt } from "../../model/jsonc";
import { modelChoices } from "../../model/models";
import { typedModels } from "../../session/settings";
import { session } from "../../session/session";

const MOST = 60; // options shown

/** What could be written where the caret is in a settings file: names of fields and their values, by the schema. */
export function useCompletion(box: RefObject<HTMLTextAreaElement | null>, text: string, caret: number, fields: SettingsField[]) {
  const id = useId();
  const [schema, setSchema] = useState<Schema | null>(null);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  useEffect(() => {
    let here = true;
    session().api.settings.schema().then((s) => here && setSchema(s as Schema), () => undefined); // without it nothing is offered
    return () => { here = false; };
  }, []);

  let spot: Spot | null = null;
  let list: Completion[] = [];
  if (open && schema) {
    spot = spotAt(text, caret);
    const titles = Object.fromEntries(fields.map((f) => [f.name, f.title]));
    list = spot ? completions(schema, spot, { claude_model: modelChoices(typedModels()).map((m) => m.name) }, titles).slice(0, MOST) : [];
  }
  const shown = list.length > 0;
  const active = Math.min(at, list.length - 1);

  /** After a letter was typed: a name or a value that is begun opens the list. */
  function typed(letter: string | null) {
    setAt(0);
    if (letter && /[\w"]/.test(letter)) setOpen(true);
    else if (letter) setOpen(false);
  }
  function choose(i: number) {
    const c = list[i];
    const el = box.current;
    if (!c || !spot || !el) return;
    setOpen(false);
    write(el, spot.from, spot.to, c.insert);
    const caretAt = spot.from + c.insert.length - c.back;
    el.setSelectionRange(caretAt, caretAt);
  }
  /** Takes the keys that are the list's. */
  function onKey(e: KeyboardEvent): boolean {
    if (e.key === " " && e.ctrlKey) {
      setAt(0);
      setOpen(true);
      e.preventDefault();
      return true;
    }
    if (!shown || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return false;
    if (e.key === "Escape") setOpen(false);
    else if (e.key === "ArrowDown") setAt((active + 1) % list.length);
    else if (e.key === "ArrowUp") setAt((active + list.length - 1) % list.length);
    else if (e.key === "Enter" || e.key === "Tab") choose(active);
    else return false;
    e.preventDefault();
    return true;
  }
  return { id, list, active, shown, from: spot?.from ?? caret, typed, choose, point: setAt, onKey, close: () => setOpen(false) };
}

/** Puts a text in the place of another, so that it can be undone. */
export function write(el: HTMLTextAreaElement, from: number, to: number, text: string) {
  el.focus();
  el.setSelectionRange(from, to);
  if (document.execCommand("insertText", false, text)) return;
  el.setRangeText(text, from, to, "end");
  el.dispatchEvent(new Event("input", { bubbles: true }));
}
