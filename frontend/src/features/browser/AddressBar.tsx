import { ArrowLeft, ArrowRight, Camera, Monitor, Moon, RotateCw, Server, SquareDashedMousePointer, Sun, X } from "lucide-react";
import { useRef, useState } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import { addressParts } from "../../model/browser/place";
import { visible } from "../../model/text";
import { IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";
import { screenshotToPrompt } from "./prompting";
import { MoreMenu, ViewMenu } from "./ViewMenu";

/** The way to other pages, and how the page is shown. */
export function AddressBar({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const picking = useStore(pane.store, (s) => s.picking);
  const narrow = useStore(pane.store, (s) => s.narrow);
  const tab = state?.tabs.find((t) => t.active);
  const running = state?.phase === "running";
  const dark = state?.view.dark ?? false;
  return (
    <div className="browser-bar">
      <IconButton name="Back" disabled={!tab?.back} onClick={() => void pane.act("go_back")}><ArrowLeft size={16} aria-hidden /></IconButton>
      <IconButton name="Forward" disabled={!tab?.forward} onClick={() => void pane.act("go_forward")}><ArrowRight size={16} aria-hidden /></IconButton>
      {tab?.loading ? (
        <IconButton name="Stop loading" onClick={() => void pane.act("stop")}><X size={16} aria-hidden /></IconButton>
      ) : (
        <IconButton name="Load again" action="browser.reload" disabled={!tab} onClick={() => void pane.act("reload")}><RotateCw size={15} aria-hidden /></IconButton>
      )}
      <Address pane={pane} url={tab?.url ?? ""} host={state?.mode === "host"} />
      {!narrow && (
        <>
          <ViewMenu pane={pane} state={state} />
          <IconButton name={dark ? "Show the page light" : "Show the page dark"} className={dark ? "browser-on" : ""} aria-pressed={dark} disabled={!running} onClick={() => pane.layOut({ dark: !dark })}>
            {dark ? <Moon size={15} aria-hidden /> : <Sun size={15} aria-hidden />}
          </IconButton>
          <i className="browser-line" />
          <IconButton name="Pick an element for the prompt" action="browser.pick" className={picking ? "browser-on" : ""} aria-pressed={picking} disabled={!running} onClick={() => pane.toggle("picking")}><SquareDashedMousePointer size={15} aria-hidden /></IconButton>
          <IconButton name="Screenshot to the prompt" disabled={!running} onClick={() => void screenshotToPrompt(pane)}><Camera size={15} aria-hidden /></IconButton>
        </>
      )}
      <MoreMenu pane={pane} state={state} />
    </div>
  );
}

function Address({ pane, url, host }: { pane: BrowserPane; url: string; host: boolean }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [inside, setInside] = useState(false);
  const fresh = useRef(false);
  const text = url === "about:blank" ? "" : url;
  const shown = addressParts(url);
  const quiet = !inside && typed === null && text !== "";
  return (
    <form
      className="browser-address" role="search" aria-label="Address"
      onSubmit={(e) => {
        e.preventDefault();
        const to = typed?.trim() || text;
        if (to) void pane.act("navigate", { url: to });
        setTyped(null);
        pane.focusPage();
      }}
    >
      {host && typed === null && <span className="browser-chip host" title="The Chrome on this computer: its pages reach what this computer reaches."><Monitor size={12} aria-hidden /> this computer</span>}
      {!host && shown.chip && typed === null && <span className="browser-chip" title="Served in the agent's container"><Server size={12} aria-hidden /> {shown.chip}</span>}
      <span className="browser-address-text">
        {quiet && <span aria-hidden className="browser-address-shown"><SafeText text={shown.host} /><span><SafeText text={shown.rest} /></span></span>}
        <input
          aria-label="Address" className={quiet ? "quiet" : ""} placeholder="Address, such as localhost:3000" spellCheck={false} autoComplete="off" value={typed ?? visible(text)}
          onFocus={(e) => {
            setInside(true);
            fresh.current = true;
            e.currentTarget.select();
          }}
          onMouseUp={(e) => { // the click that came here would put the caret
            if (!fresh.current) return;
            e.preventDefault();
            e.currentTarget.select();
            fresh.current = false;
          }}
          onChange={(e) => { fresh.current = false; setTyped(e.currentTarget.value); }} onBlur={() => { setTyped(null); setInside(false); }}
          onKeyDown={(e) => {
            if (e.key !== "Escape") return;
            e.stopPropagation();
            setTyped(null);
            pane.focusPage();
          }}
        />
      </span>
    </form>
  );
}
