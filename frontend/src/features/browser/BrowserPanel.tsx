import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { arrive } from "../../dock/visit";
import { SafeText } from "../../ui/SafeText";
import { AddressBar } from "./AddressBar";
import { BatonBar } from "./BatonBar";
import { DialogBar, FindBar } from "./Bars";
import { PageDrawer } from "./PageDrawer";
import { paneOf } from "./pane";
import { Surface } from "./Surface";
import { TabStrip } from "./TabStrip";
import "./browser.css";

/** The browser of a channel, which its agent and the person drive together. */
export function BrowserPanel({ channelId }: { channelId: ChannelID }) {
  const pane = paneOf(channelId);
  const state = useStore(pane.store, (s) => s.state);
  const error = useStore(pane.store, (s) => s.error);
  const running = state?.phase === "running";
  return (
    <section className={`browser ${state?.driver ?? "nobody"}`} aria-label="Browser" data-region tabIndex={-1} onFocus={arrive}>
      <TabStrip pane={pane} tabs={running ? state.tabs : []} />
      <AddressBar pane={pane} state={state} />
      <BatonBar pane={pane} state={state} />
      {state?.dialog && <DialogBar key={state.dialog.message} pane={pane} dialog={state.dialog} />}
      {error && <p className="browser-error" role="alert"><SafeText text={error} /></p>}
      <FindBar pane={pane} />
      <Surface pane={pane} state={state} />
      <PageDrawer pane={pane} state={state} />
    </section>
  );
}
