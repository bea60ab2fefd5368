import { ChevronRight, CircleX, CornerDownRight, TriangleAlert } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ConsoleRow } from "../../model/browser/evaluated";
import { consoleRows } from "../../model/browser/evaluated";
import { SafeText } from "../../ui/SafeText";
import { composing } from "../../ui/keys";
import { fineTime } from "./fineTime";
import type { BrowserPane } from "./pane";

const NEAR = 8; // pixels from the end that still count as there
const short = (source: string) => source.replace(/^.*\//, "") || source;

function Row({ row }: { row: ConsoleRow }) {
  if (row.kind === "line") {
    const { line } = row;
    return (
      <li className={line.level}>
        <span className="browser-mark">{line.level === "error" ? <CircleX size={13} aria-label="error" /> : line.level === "warning" ? <TriangleAlert size={13} aria-label="warning" /> : null}</span>
        <time>{fineTime(line.time)}</time>
        <span className="browser-line-text"><SafeText text={line.text} /></span>
        {line.source && <span className="quiet browser-source" title={line.source}><SafeText text={short(line.source)} /></span>}
      </li>
    );
  }
  const { at } = row;
  if (row.kind === "asked") return <li className="asked"><span className="browser-mark"><ChevronRight size={13} aria-label="evaluated" /></span><span className="browser-line-text"><SafeText text={at.expression} /></span></li>;
  return <li className={at.failed ? "error" : "answered"}><span className="browser-mark"><CornerDownRight size={13} aria-label={at.failed ? "failed" : "gave"} /></span><span className="browser-line-text"><SafeText text={at.result} /></span></li>;
}

/** The page's console, and a line to evaluate an expression in the page. */
export function Console({ pane, filter }: { pane: BrowserPane; filter: string }) {
  const lines = useStore(pane.store, (s) => s.lines);
  const evaluated = useStore(pane.store, (s) => s.evaluated);
  const rows = useMemo(() => consoleRows(lines, evaluated, filter), [lines, evaluated, filter]);
  const list = useRef<HTMLOListElement>(null);
  const atEnd = useRef(true);
  const [typed, setTyped] = useState("");
  useLayoutEffect(() => {
    const el = list.current;
    if (el && atEnd.current) el.scrollTop = el.scrollHeight;
  }, [rows]);
  function onKey(e: KeyboardEvent<HTMLInputElement>) {
    if (composing(e) || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
    e.preventDefault();
    const to = pane.recall.step(e.key === "ArrowUp" ? 1 : -1, typed);
    if (to !== null) setTyped(to);
  }
  return (
    <>
      <ol
        ref={list} className="browser-lines selectable" aria-label="Console" tabIndex={0}
        onScroll={(e) => { const el = e.currentTarget; atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < NEAR; }}
      >
        {rows.map((r) => <Row key={r.key} row={r} />)}
        {rows.length === 0 && <li className="none">{filter ? "No line has that." : "The page has written nothing."}</li>}
      </ol>
      <form
        className="browser-evaluate"
        onSubmit={(e) => {
          e.preventDefault();
          if (!typed.trim()) return;
          atEnd.current = true;
          void pane.evaluate(typed.trim());
          setTyped("");
        }}
      >
        <ChevronRight size={14} aria-hidden />
        <input aria-label="Expression to evaluate in the page" placeholder="Type an expression to evaluate in the page" spellCheck={false} autoComplete="off" value={typed} onChange={(e) => setTyped(e.currentTarget.value)} onKeyDown={onKey} />
      </form>
    </>
  );
}
