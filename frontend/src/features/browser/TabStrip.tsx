import { Globe, LoaderCircle, Plus, TriangleAlert, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useRef } from "react";
import type { BrowserTab } from "../../api/browser-messages";
import { IconButton } from "../../ui/Button";
import type { BrowserPane } from "./pane";

const named = (t: BrowserTab) => t.title || t.url || "New tab";

/** The pages of the browser. Arrows move along, Delete closes. */
export function TabStrip({ pane, tabs }: { pane: BrowserPane; tabs: BrowserTab[] }) {
  const strip = useRef<HTMLDivElement>(null);
  const go = (t: BrowserTab) => void pane.act("switch_tab", { target_id: t.target_id });
  const close = (t: BrowserTab) => void pane.act("close_tab", { target_id: t.target_id });
  function onKey(e: KeyboardEvent, at: number) {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
    const tab = tabs[at];
    if (e.key === "Delete" && tab) close(tab);
    else if (to !== undefined) strip.current?.querySelectorAll<HTMLElement>("[role=tab]")[Math.min(tabs.length - 1, Math.max(0, to))]?.focus();
    else return;
    e.preventDefault();
  }
  return (
    <div className={`browser-tabs ${tabs.length > 6 ? "many" : ""}`}>
      <div role="tablist" aria-label="Pages" ref={strip}>
        {tabs.map((t, i) => (
          <span key={t.target_id} className={`browser-tab ${t.active ? "active" : ""}`} role="presentation" onAuxClick={(e) => e.button === 1 && close(t)}>
            <button type="button" role="tab" aria-selected={t.active} tabIndex={t.active ? 0 : -1} title={`${named(t)}\n${t.url}`} onClick={() => go(t)} onKeyDown={(e) => onKey(e, i)}>
              {t.loading ? <LoaderCircle size={14} className="spin" aria-label="loads" /> : t.crashed ? <TriangleAlert size={14} aria-hidden /> : t.icon ? <img src={t.icon} alt="" width={14} height={14} /> : <Globe size={14} aria-hidden />}
              <span className="browser-tab-name">{named(t)}</span>
            </button>
            <button type="button" className="browser-tab-close" tabIndex={-1} aria-label={`Close ${named(t)}`} title="Close" onClick={() => close(t)}><X size={12} aria-hidden /></button>
          </span>
        ))}
      </div>
      <IconButton small name="New tab" onClick={() => void pane.act("new_tab", { url: "about:blank" })}><Plus size={14} aria-hidden /></IconButton>
    </div>
  );
}
