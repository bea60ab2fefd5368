import { ArrowLeft, ArrowRight, Camera, Ellipsis, Monitor, Moon, RotateCw, Search, Smartphone, SquareDashedMousePointer, Wifi, WifiOff, X } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import { addressParts, DEVICES } from "../../model/browser/place";
import { Button, IconButton } from "../../ui/Button";
import { keys, MOD } from "../../ui/keys";
import { Menu, MenuItem, MenuLine } from "../../ui/Menu";
import type { BrowserPane } from "./pane";
import { screenshotToPrompt } from "./prompting";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2];

/** The way to other pages, and how the page is shown. */
export function AddressBar({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const [typed, setTyped] = useState<string | null>(null);
  const device = useStore(pane.store, (s) => s.device);
  const picking = useStore(pane.store, (s) => s.picking);
  const tab = state?.tabs.find((t) => t.active);
  const running = state?.phase === "running";
  const shown = addressParts(tab?.url ?? "");
  const view = state?.view;
  const chosen = DEVICES.find((d) => d.id === device) ?? DEVICES[0];
  const Shape = chosen.mobile ? Smartphone : Monitor;
  const url = tab?.url === "about:blank" ? "" : (tab?.url ?? "");
  return (
    <div className="browser-bar">
      <IconButton name="Back" disabled={!tab?.back} onClick={() => void pane.act("go_back")}><ArrowLeft size={15} aria-hidden /></IconButton>
      <IconButton name="Forward" disabled={!tab?.forward} onClick={() => void pane.act("go_forward")}><ArrowRight size={15} aria-hidden /></IconButton>
      {tab?.loading ? (
        <IconButton name="Stop loading" onClick={() => void pane.act("stop")}><X size={15} aria-hidden /></IconButton>
      ) : (
        <IconButton name="Load again" disabled={!tab} onClick={() => void pane.act("reload")}><RotateCw size={15} aria-hidden /></IconButton>
      )}
      <form
        className="browser-address" role="search"
        onSubmit={(e) => {
          e.preventDefault();
          if (typed?.trim()) void pane.act("navigate", { url: typed.trim() });
          setTyped(null);
          pane.focusPage();
        }}
      >
        {shown.chip && typed === null && <span className="browser-chip" title="Served in the agent's container">{shown.chip}</span>}
        <input
          aria-label="Address" placeholder="Address, such as localhost:3000" spellCheck={false} autoComplete="off" value={typed ?? url}
          onFocus={(e) => {
            const el = e.currentTarget;
            requestAnimationFrame(() => el.select());
          }}
          onChange={(e) => setTyped(e.currentTarget.value)} onBlur={() => setTyped(null)}
          onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
        />
      </form>
      <Menu
        align="end"
        button={<Button look="small browser-view" disabled={!running} title="Size of the page"><Shape size={14} aria-hidden /> <span className="browser-wide">{chosen.name} {view?.width} × {view?.height}</span></Button>}
      >
        {DEVICES.map((d) => <MenuItem key={d.id} icon={d.mobile ? <Smartphone size={14} aria-hidden /> : <Monitor size={14} aria-hidden />} name={d.width ? `${d.name} ${d.width} × ${d.height}` : "Fit the pane"} onSelect={() => pane.choose(d.id)} />)}
        <MenuLine />
        {ZOOMS.map((z) => <MenuItem key={z} name={`Zoom ${z * 100} %${view?.zoom === z ? " ✓" : ""}`} onSelect={() => pane.layOut({ zoom: z })} />)}
        <MenuLine />
        <MenuItem icon={<Wifi size={14} aria-hidden />} name={`Network as it is${view?.network === "" ? " ✓" : ""}`} onSelect={() => pane.layOut({ network: "" })} />
        <MenuItem icon={<Wifi size={14} aria-hidden />} name={`Slow network${view?.network === "slow" ? " ✓" : ""}`} onSelect={() => pane.layOut({ network: "slow" })} />
        <MenuItem icon={<WifiOff size={14} aria-hidden />} name={`No network${view?.network === "offline" ? " ✓" : ""}`} onSelect={() => pane.layOut({ network: "offline" })} />
      </Menu>
      <span className="browser-tools browser-wide">
        <IconButton name="Dark page" className={view?.dark ? "on" : ""} aria-pressed={view?.dark ?? false} disabled={!running} onClick={() => pane.layOut({ dark: !view?.dark })}><Moon size={15} aria-hidden /></IconButton>
        <IconButton name="Pick an element for the prompt" keys={keys(MOD, "Shift", "S")} className={picking ? "on" : ""} aria-pressed={picking} disabled={!running} onClick={() => pane.toggle("picking")}><SquareDashedMousePointer size={15} aria-hidden /></IconButton>
        <IconButton name="Screenshot to the prompt" disabled={!running} onClick={() => void screenshotToPrompt(pane)}><Camera size={15} aria-hidden /></IconButton>
      </span>
      <Menu align="end" button={<IconButton name="More"><Ellipsis size={15} aria-hidden /></IconButton>}>
        <MenuItem icon={<Search size={14} aria-hidden />} name="Find in the page" hint={keys(MOD, "F")} disabled={!running} onSelect={() => pane.toggle("finding")} />
        <MenuItem icon={<Moon size={14} aria-hidden />} name="Dark page" disabled={!running} onSelect={() => pane.layOut({ dark: !view?.dark })} />
        <MenuItem icon={<SquareDashedMousePointer size={14} aria-hidden />} name="Pick an element for the prompt" disabled={!running} onSelect={() => pane.toggle("picking")} />
        <MenuItem icon={<Camera size={14} aria-hidden />} name="Screenshot to the prompt" disabled={!running} onSelect={() => void screenshotToPrompt(pane)} />
        <MenuLine />
        <MenuItem icon={<RotateCw size={14} aria-hidden />} name="Restart the browser" onSelect={() => pane.send({ type: "restart" })} />
      </Menu>
    </div>
  );
}
