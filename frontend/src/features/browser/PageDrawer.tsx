import { ArrowUp, ChevronUp, CircleX, Eraser, X } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import { Button, IconButton } from "../../ui/Button";
import { Console } from "./Console";
import { Downloads } from "./Downloads";
import { Network } from "./Network";
import type { BrowserPane } from "./pane";
import { errorToPrompt } from "./prompting";
import type { Drawer } from "./shown";

/** What the page did, below it: its console, its requests and its downloads. */
export function PageDrawer({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const open = useStore(pane.store, (s) => s.drawer);
  const scale = useStore(pane.store, (s) => s.scale);
  const fails = useStore(pane.store, (s) => s.lines.some((l) => l.level === "error"));
  const [filter, setFilter] = useState("");
  if (state?.phase !== "running") return null;
  const head = (kind: Drawer, name: string, count: ReactNode) => (
    <button type="button" aria-pressed={open === kind} onClick={() => pane.show(open === kind ? "" : kind)}>{name} {count}</button>
  );
  return (
    <section className={`browser-drawer ${open ? "open" : ""}`} aria-label="What the page did">
      <div className="browser-drawer-head">
        <div className="browser-drawer-tabs">
          {head("console", "Console", state.errors > 0 ? <span className="fail"><CircleX size={12} aria-label="errors" /> {state.errors}</span> : <span className="quiet">0</span>)}
          {head("network", "Network", <span className="quiet">{state.requests}</span>)}
          {(state.downloads.length > 0 || open === "downloads") && head("downloads", "Downloads", <span className="quiet">{state.downloads.length}</span>)}
        </div>
        {scale !== 100 && <span className="browser-scale tnum">page {scale} %</span>}
        {open === "" && <IconButton small name="Open the console" onClick={() => pane.show("console")}><ChevronUp size={14} aria-hidden /></IconButton>}
        {open !== "" && open !== "downloads" && <input aria-label="Filter" placeholder="Filter" spellCheck={false} value={filter} onChange={(e) => setFilter(e.currentTarget.value)} />}
        {open === "console" && <Button look="small" disabled={!fails} aria-label="Error to prompt" title="Put the last error into the prompt" onClick={() => errorToPrompt(pane)}><ArrowUp size={13} aria-hidden /><span className="browser-wide">Error to prompt</span></Button>}
        {open !== "" && open !== "downloads" && <IconButton small name="Clear" onClick={() => pane.clear()}><Eraser size={14} aria-hidden /></IconButton>}
        {open !== "" && <IconButton small name="Close" onClick={() => pane.show("")}><X size={14} aria-hidden /></IconButton>}
      </div>
      {open === "console" && <Console pane={pane} filter={filter} />}
      {open === "network" && <Network pane={pane} filter={filter} />}
      {open === "downloads" && <Downloads pane={pane} downloads={state.downloads} />}
    </section>
  );
}
