import { Camera, Check, Ellipsis, Laptop, Monitor, Moon, Power, RotateCw, Search, Smartphone, SquareDashedMousePointer, Tablet, Trash2, Wifi, WifiOff } from "lucide-react";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import type { DeviceID } from "../../model/browser/place";
import { DEVICES } from "../../model/browser/place";
import { Button, IconButton } from "../../ui/Button";
import { keyText } from "../../ui/keys";
import { Menu, MenuItem, MenuLine, SubMenu } from "../../ui/Menu";
import type { BrowserPane } from "./pane";
import { screenshotToPrompt } from "./prompting";

const SHAPES: Record<DeviceID, typeof Monitor> = { fit: Monitor, phone: Smartphone, tablet: Tablet, laptop: Laptop };
const NETWORKS = [["", "Network as it is"], ["slow", "Slow network"], ["offline", "No network"]] as const;
type Props = { pane: BrowserPane; state: BrowserState | null };

function Choice({ icon, name, on, act }: { icon?: ReactNode; name: string; on: boolean; act(): void }) {
  return <MenuItem icon={icon} name={<>{name}{on && <><Check size={13} className="menu-word" aria-hidden /><span className="sr-only">, chosen</span></>}</>} onSelect={act} />;
}

function ViewItems({ pane, state }: Props) {
  const device = useStore(pane.store, (s) => s.device);
  const view = state?.view;
  return (
    <>
      {DEVICES.map((d) => {
        const Shape = SHAPES[d.id];
        return <Choice key={d.id} icon={<Shape size={14} aria-hidden />} name={d.width ? `${d.name} ${d.width} × ${d.height}` : "Fit the pane"} on={d.id === device} act={() => pane.choose(d.id)} />;
      })}
      <MenuLine />
      <MenuItem name="Larger" hint={keyText("browser.larger")} onSelect={() => pane.zoom(1)} />
      <MenuItem name="Smaller" hint={keyText("browser.smaller")} onSelect={() => pane.zoom(-1)} />
      <MenuItem name={`As it is${view && view.zoom !== 1 ? `, now ${Math.round(view.zoom * 100)} %` : ""}`} hint={keyText("browser.as-is")} onSelect={() => pane.zoom(0)} />
      <MenuLine />
      {NETWORKS.map(([id, name]) => <Choice key={id} icon={id === "offline" ? <WifiOff size={14} aria-hidden /> : <Wifi size={14} aria-hidden />} name={name} on={view?.network === id} act={() => pane.layOut({ network: id })} />)}
    </>
  );
}

/** The size of the page, its zoom and its network. */
export function ViewMenu({ pane, state }: Props) {
  const device = useStore(pane.store, (s) => s.device);
  const view = state?.view;
  const chosen = DEVICES.find((d) => d.id === device) ?? DEVICES[0];
  const Shape = view?.network ? WifiOff : SHAPES[chosen.id];
  const more = [view && view.zoom !== 1 ? `${Math.round(view.zoom * 100)} %` : "", view?.network === "offline" ? "no network" : view?.network === "slow" ? "slow" : ""].filter(Boolean).join(", ");
  return (
    <Menu align="end" button={<Button look={`small browser-view ${more ? "browser-changed" : ""}`} disabled={state?.phase !== "running"} aria-label={`Size, zoom and network of the page: ${chosen.name} ${view?.width} × ${view?.height}${more && `, ${more}`}`} title="Size, zoom and network of the page"><Shape size={14} aria-hidden /><span className="tnum">{chosen.name} {view?.width} × {view?.height}{more && `, ${more}`}</span></Button>}>
      <ViewItems pane={pane} state={state} />
    </Menu>
  );
}

/** The rest, and the tools as well where the pane is narrow. */
export function MoreMenu({ pane, state }: Props) {
  const narrow = useStore(pane.store, (s) => s.narrow);
  const running = state?.phase === "running";
  return (
    <Menu align="end" button={<IconButton name="More"><Ellipsis size={16} aria-hidden /></IconButton>}>
      {narrow && (
        <>
          <SubMenu icon={<Smartphone size={14} aria-hidden />} name="Size, zoom and network" disabled={!running}><ViewItems pane={pane} state={state} /></SubMenu>
          <MenuItem icon={<Moon size={14} aria-hidden />} name={state?.view.dark ? "Show the page light" : "Show the page dark"} disabled={!running} onSelect={() => pane.layOut({ dark: !state?.view.dark })} />
          <MenuItem icon={<SquareDashedMousePointer size={14} aria-hidden />} name="Pick an element for the prompt" disabled={!running} onSelect={() => pane.toggle("picking")} />
          <MenuItem icon={<Camera size={14} aria-hidden />} name="Screenshot to the prompt" disabled={!running} onSelect={() => void screenshotToPrompt(pane)} />
          <MenuLine />
        </>
      )}
      <MenuItem icon={<Search size={14} aria-hidden />} name="Find in the page" hint={keyText("browser.find")} disabled={!running} onSelect={() => pane.toggle("finding")} />
      <MenuLine />
      <MenuItem icon={<Power size={14} aria-hidden />} name="Restart the browser" onSelect={() => pane.send({ type: "restart" })} />
      <MenuItem icon={state?.mode === "host" ? <RotateCw size={14} aria-hidden /> : <Trash2 size={14} aria-hidden />} danger name="Forget the profile" disabled={!state || state.phase === "off" || state.phase === "starting" || state.mode === "host"} onSelect={() => pane.store.setState({ resetting: true })} />
    </Menu>
  );
}
