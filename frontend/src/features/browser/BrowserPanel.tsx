import { Info, TriangleAlert, X } from "lucide-react";
import type { FocusEvent } from "react";
import { useEffect } from "react";
import { useStore } from "zustand";
import type { BrowserState } from "../../api/browser-messages";
import type { ChannelID } from "../../api/types";
import { update } from "../../dock/layouts";
import { arrive } from "../../dock/visit";
import * as change from "../../model/dock/change";
import type { PanelID } from "../../model/dock/layout";
import { browserVisitStore } from "../../model/stores";
import { IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import { AddressBar } from "./AddressBar";
import { BatonBar } from "./BatonBar";
import { FindBar } from "./FindBar";
import { PageDrawer } from "./PageDrawer";
import type { BrowserPane } from "./pane";
import { paneOf } from "./pane";
import { Surface } from "./Surface";
import { TabStrip } from "./TabStrip";
import "./browser.css";
import "./drawer.css";

/** The browser of a channel, which its agent and the person drive together. */
export function BrowserPanel({ channelId, id }: { channelId: ChannelID; id: PanelID }) {
  const pane = paneOf(channelId);
  const state = useStore(pane.store, (s) => s.state);
  const error = useStore(pane.store, (s) => s.error);
  const running = state?.phase === "running";
  const asked = useStore(browserVisitStore, (v) => (v.channel === channelId ? v.url : ""));
  useEffect(() => { // another part of the page has asked for an address
    if (!asked || !running) return;
    browserVisitStore.setState({ channel: "", url: "" });
    void pane.act("navigate", { url: asked });
    pane.focusPage();
  }, [asked, running, pane]);
  const enter = (e: FocusEvent<HTMLElement>) => {
    arrive(e);
    update(channelId, (l) => change.activate(l, id)); // commands mean the panel that has the keyboard
  };
  return (
    <section className={`browser ${running ? state.driver : "nobody"}`} aria-label="Browser" data-region tabIndex={-1} onFocus={enter}>
      <TabStrip pane={pane} tabs={running ? state.tabs : []} />
      <AddressBar pane={pane} state={state} />
      <BatonBar pane={pane} state={state} />
      {running && <Notices pane={pane} state={state} />}
      {error && (
        <div className="browser-strip error" role="alert">
          <TriangleAlert size={14} aria-hidden /><p><SafeText text={error} /></p>
          <IconButton small name="Dismiss" onClick={() => pane.store.setState({ error: "" })}><X size={14} aria-hidden /></IconButton>
        </div>
      )}
      <FindBar pane={pane} />
      <Surface pane={pane} state={state} />
      <PageDrawer pane={pane} state={state} />
    </section>
  );
}

const HOST = "This is the Chrome on this computer. Its pages reach whatever this computer reaches, and the agent acts with what you are signed in to.";

/** What a person should know about this browser, until they have put it away. */
function Notices({ pane, state }: { pane: BrowserPane; state: BrowserState }) {
  const dismissed = useStore(pane.store, (s) => s.dismissed);
  const all = [...(state.mode === "host" ? [HOST] : []), ...state.notices].filter((n) => n && !dismissed.includes(n));
  return all.map((n) => (
    <div key={n} className="browser-strip" role="note">
      <Info size={14} aria-hidden /><p><SafeText text={n} /></p>
      <IconButton small name="Dismiss" onClick={() => pane.store.setState({ dismissed: [...dismissed, n] })}><X size={14} aria-hidden /></IconButton>
    </div>
  ));
}
