import { CircleAlert, LoaderCircle, PlugZap, Power, RotateCw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { BrowserState } from "../../api/browser-messages";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";

type Props = { pane: BrowserPane; state: BrowserState | null; link: string };

/** What stands in the place of a page, or over its last picture. */
export function Notice({ pane, state, link }: Props) {
  const note = (icon: ReactNode, head: string, text?: ReactNode, act?: ReactNode) => (
    <div className="browser-note browser-over" role="status">{icon}<h3>{head}</h3>{text && <p>{text}</p>}{act}</div>
  );
  const start = (name: string) => <Button look="primary" onClick={() => pane.send({ type: "restart" })}><RotateCw size={14} aria-hidden /> {name}</Button>;
  const wait = <LoaderCircle size={20} className="spin" aria-hidden />;
  if (link === "lost") return note(<PlugZap size={20} aria-hidden />, "The connection to Loop was lost", "It is being made again. The page stays as it is.");
  if (!state || link === "connecting") return note(wait, "Connecting");
  switch (state.phase) {
    case "starting":
      return note(wait, `Starting Chromium, ${(state.sinceMs / 1000).toFixed(1)} s`, state.step ? <><SafeText text={state.step} />. Building its image takes some minutes; closing this panel does not stop it.</> : undefined);
    case "crashed":
      return (
        <div className="browser-note browser-over">
          {state.failure ? <FailureCard failure={state.failure} /> : <><CircleAlert size={20} aria-hidden /><h3>Chromium has ended</h3></>}
          {start("Restart")}
        </div>
      );
    case "idle":
      return note(<Power size={20} aria-hidden />, "The browser is asleep", "It ended because nobody used it. Its profile is kept.", start("Start it"));
    case "off":
      return note(<Power size={20} aria-hidden />, "The browser is switched off", <>Set <code>browser_enabled</code> to true in the settings.</>);
  }
  const tab = state.tabs.find((t) => t.active);
  if (tab?.crashed) return note(<TriangleAlert size={20} aria-hidden />, "This page has crashed", "The other pages go on.", <Button look="primary" onClick={() => void pane.act("reload")}><RotateCw size={14} aria-hidden /> Load it again</Button>);
  if (tab?.url === "about:blank" && !tab.loading) return <Empty pane={pane} state={state} />;
  return null;
}

/** No page yet: what listens in the agent's containers is one click away. */
function Empty({ pane, state }: { pane: BrowserPane; state: BrowserState }) {
  return (
    <div className="browser-note browser-over blank">
      <h3>{state.ports.length > 0 ? "Open what the agent serves" : "Where to?"}</h3>
      {state.ports.length > 0 ? (
        <ul className="browser-ports">
          {state.ports.map((p) => (
            <li key={p.url}>
              <Button onClick={() => { void pane.act("navigate", { url: p.url }); pane.focusPage(); }}>
                <span className="tnum">:{p.port}</span> <span className="quiet"><SafeText text={p.process} /></span>
              </Button>
            </li>
          ))}
        </ul>
      ) : (
        <p>{state.mode === "host" ? "Type an address above." : <>Type an address above. Servers of the agent are at <code>localhost</code>, with their port; open ones appear here.</>}</p>
      )}
    </div>
  );
}
