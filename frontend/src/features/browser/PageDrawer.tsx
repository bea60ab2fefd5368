import { ArrowUp, ChevronUp, CircleX, Eraser, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import { Button, IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane, Drawer } from "./pane";
import { errorToPrompt } from "./prompting";

const clock = (ms: number) => new Date(ms).toTimeString().slice(0, 8);
const size = (n: number) => (n < 1024 ? `${n} B` : n < 1 << 20 ? `${Math.round(n / 1024)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`);

/** The console and the network's log of the page, below it. */
export function PageDrawer({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const open = useStore(pane.store, (s) => s.drawer);
  const lines = useStore(pane.store, (s) => s.lines);
  const requests = useStore(pane.store, (s) => s.requests);
  const [filter, setFilter] = useState("");
  if (state?.phase !== "running") return null;
  const has = (text: string) => text.toLowerCase().includes(filter.toLowerCase());
  const head = (kind: Drawer, name: string, count: number, bad: boolean) => (
    <button type="button" role="tab" aria-selected={open === kind} className={open === kind ? "active" : ""} onClick={() => pane.open(open === kind ? "" : kind)}>
      {name} {bad && count > 0 && <CircleX size={12} aria-hidden className="fail" />} <span className={bad && count > 0 ? "fail" : "quiet"}>{count}</span>
    </button>
  );
  return (
    <div className={`browser-drawer ${open ? "open" : ""}`}>
      <div className="browser-drawer-head">
        <div role="tablist" aria-label="What the page did">
          {head("console", "Console", state.errors, true)}
          {head("network", "Network", state.requests, false)}
        </div>
        {open ? (
          <>
            <input aria-label="Filter" placeholder="Filter" value={filter} onChange={(e) => setFilter(e.currentTarget.value)} />
            {open === "console" && <Button look="small" disabled={!lines.some((l) => l.level === "error")} onClick={() => errorToPrompt(pane, lines)}><ArrowUp size={13} aria-hidden /> Error to prompt</Button>}
            <IconButton small name="Clear" onClick={() => pane.clear()}><Eraser size={14} aria-hidden /></IconButton>
            <IconButton small name="Close" onClick={() => pane.open("")}><X size={14} aria-hidden /></IconButton>
          </>
        ) : (
          <IconButton small name="Open the console" onClick={() => pane.open("console")}><ChevronUp size={14} aria-hidden /></IconButton>
        )}
      </div>
      {open === "console" && (
        <ol className="browser-lines selectable" aria-label="Console" tabIndex={0}>
          {lines.filter((l) => has(l.text)).map((l) => (
            <li key={l.seq} className={l.level}>
              <span aria-hidden>{l.level === "error" ? <CircleX size={12} /> : l.level === "warning" ? <TriangleAlert size={12} /> : null}</span>
              <time>{clock(l.time)}</time> <span className="browser-line-text"><SafeText text={l.text} /></span> <span className="quiet"><SafeText text={l.source.split("/").at(-1) ?? ""} /></span>
            </li>
          ))}
          {lines.length === 0 && <li className="quiet">Nothing yet.</li>}
        </ol>
      )}
      {open === "network" && (
        <ol className="browser-lines selectable" aria-label="Network" tabIndex={0}>
          {requests.filter((r) => has(r.url)).map((r) => (
            <li key={r.seq} className={r.error || r.status >= 400 ? "error" : ""}>
              <time>{clock(r.time)}</time> <span>{r.error ? "failed" : r.status || "…"}</span> <span>{r.method}</span>
              <span className="browser-line-text"><SafeText text={r.url} /></span> <span className="quiet">{r.error || `${size(r.bytes)}, ${r.ms} ms`}</span>
            </li>
          ))}
          {requests.length === 0 && <li className="quiet">Nothing yet.</li>}
        </ol>
      )}
    </div>
  );
}
