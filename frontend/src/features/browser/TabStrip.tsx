import { ChevronDown, Globe, LoaderCircle, Plus, TriangleAlert, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useRef, useState } from "react";
import type { BrowserTab } from "../../api/browser-messages";
import { stripMode } from "../../model/browser/strip";
import { visible } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { Menu, MenuItem } from "../../ui/Menu";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";

const named = (t: BrowserTab) => (t.url === "about:blank" ? "New tab" : visible(t.title || t.url.replace(/^https?:\/\//, "") || "New tab"));

function Icon({ tab }: { tab: BrowserTab }) {
  if (tab.loading) return <LoaderCircle size={14} className="spin" aria-label="loads" />;
  if (tab.crashed) return <TriangleAlert size={14} aria-label="crashed" />;
  return tab.icon ? <img src={tab.icon} alt="" width={14} height={14} /> : <Globe size={14} aria-hidden />;
}

/** The pages of the browser: by name, by icon, or in a list. Arrows move along, Enter chooses, Delete closes. */
export function TabStrip({ pane, tabs }: { pane: BrowserPane; tabs: BrowserTab[] }) {
  const strip = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const el = strip.current;
    if (!el) return;
    const watch = new ResizeObserver(() => setWidth(el.clientWidth));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const mode = stripMode(tabs.length, width);
  const shown = mode === "list" ? tabs.filter((t) => t.active) : tabs;
  const go = (t: BrowserTab) => void pane.act("switch_tab", { target_id: t.target_id });
  const close = (t: BrowserTab) => void pane.act("close_tab", { target_id: t.target_id });
  function onKey(e: KeyboardEvent, at: number) {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[e.key];
    const tab = shown[at];
    const all = strip.current?.querySelectorAll<HTMLElement>("[role=tab]");
    if (e.key === "Delete" && tab) {
      close(tab);
      all?.[at === 0 ? 1 : at - 1]?.focus();
    } else if (to !== undefined) all?.[Math.min(shown.length - 1, Math.max(0, to))]?.focus();
    else return;
    e.preventDefault();
  }
  return (
    <div className={`browser-tabs ${mode}`} ref={strip}>
      {shown.length > 0 && (
        <div role="tablist" aria-label="Pages">
          {shown.map((t, i) => (
            <span key={t.target_id} className={`browser-tab ${t.active ? "active" : ""}`} role="presentation" onAuxClick={(e) => e.button === 1 && close(t)}>
              <button type="button" role="tab" aria-selected={t.active} aria-label={named(t)} tabIndex={t.active ? 0 : -1} title={`${named(t)}\n${visible(t.url)}`} onClick={() => go(t)} onKeyDown={(e) => onKey(e, i)}>
                <Icon tab={t} />
                <span className="browser-tab-name"><SafeText text={named(t)} /></span>
              </button>
              <span className="browser-tab-close" aria-hidden title="Close (Delete)" onClick={() => close(t)}><X size={12} /></span>
            </span>
          ))}
        </div>
      )}
      {mode === "list" && (
        <Menu align="start" className="browser-options" button={<Button look="small">{tabs.length} pages <ChevronDown size={12} aria-hidden /></Button>}>
          {tabs.map((t) => <MenuItem key={t.target_id} icon={<Icon tab={t} />} name={<span className="ellipsis"><SafeText text={named(t)} /></span>} hint={t.active ? "shown" : ""} onSelect={() => go(t)} />)}
        </Menu>
      )}
      <IconButton small name="New tab" onClick={() => void pane.act("new_tab", { url: "about:blank" })}><Plus size={14} aria-hidden /></IconButton>
    </div>
  );
}
