import type { KeyboardEvent } from "react";
import { useState } from "react";
import { useStore } from "zustand";
import type { BrowserRequest } from "../../api/browser-messages";
import { byteSize } from "../../model/byteSize";
import { fineDuration } from "../../model/format";
import { CopyButton } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";
import { fineTime } from "./fineTime";
import type { BrowserPane } from "./pane";

const bad = (r: BrowserRequest) => r.error !== "" || r.status >= 400;
const state = (r: BrowserRequest) => (r.error ? "failed" : r.status ? String(r.status) : "…");

/** What the page exchanged with the network. Arrows move along, Enter shows more of one. */
export function Network({ pane, filter }: { pane: BrowserPane; filter: string }) {
  const requests = useStore(pane.store, (s) => s.requests);
  const [opened, setOpened] = useState(0);
  const [current, setCurrent] = useState(0);
  const want = filter.toLowerCase();
  const rows = requests.filter((r) => `${r.method} ${r.url} ${r.kind} ${state(r)}`.toLowerCase().includes(want));
  const at = rows.some((r) => r.seq === current) ? current : (rows[0]?.seq ?? 0);
  function onKey(e: KeyboardEvent<HTMLOListElement>) {
    const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
    const i = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[e.key];
    if (i < 0 || to === undefined) return;
    e.preventDefault();
    all[Math.min(all.length - 1, Math.max(0, to))]?.focus();
  }
  return (
    <ol className="browser-lines" aria-label="Network" onKeyDown={onKey}>
      {rows.map((r) => (
        <li key={r.seq} className={`request ${bad(r) ? "error" : ""}`}>
          <button type="button" data-row aria-expanded={opened === r.seq} tabIndex={r.seq === at ? 0 : -1} onFocus={() => setCurrent(r.seq)} onClick={() => setOpened(opened === r.seq ? 0 : r.seq)}>
            <time>{fineTime(r.time)}</time> <span className="browser-status">{state(r)}</span> <span className="browser-method"><SafeText text={r.method} /></span>
            <span className="browser-line-text ellipsis"><SafeText text={r.url} /></span> <span className="quiet browser-source"><SafeText text={r.error || `${byteSize(r.bytes)} · ${fineDuration(r.ms)}`} /></span>
          </button>
          {opened === r.seq && (
            <dl className="selectable">
              <dt>Address</dt><dd><SafeText text={r.url} /> <CopyButton text={() => r.url}>Copy</CopyButton></dd>
              <dt>Kind</dt><dd><SafeText text={r.kind || "other"} /></dd>
              <dt>Answer</dt><dd>{r.error ? <SafeText text={r.error} /> : r.status ? `HTTP ${r.status}, ${byteSize(r.bytes)} after ${fineDuration(r.ms)}` : "None so far"}</dd>
            </dl>
          )}
        </li>
      ))}
      {rows.length === 0 && <li className="none">{filter ? "No request has that." : "The page has asked for nothing since it was opened."}</li>}
    </ol>
  );
}
