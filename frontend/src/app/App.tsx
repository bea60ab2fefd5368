import { Unplug } from "lucide-react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { connectionStore, frameStore, viewStore } from "../model/stores";
import { Button } from "../ui/Button";
import { ErrorBoundary } from "../ui/ErrorBoundary";
import { FailureCard } from "../ui/FailureCard";
import { later } from "../ui/Later";
import { Rail } from "../features/channels/Rail";
import { Sidebar } from "../features/channels/Sidebar";
import { SidebarOver } from "../features/channels/SidebarOver";
import { Dock } from "../dock/Dock";
import { cancel } from "../session/leave";
import { ContainersPanel } from "../features/containers/panel";
import { LeavingDialogs } from "../features/leaving/LeavingDialogs";
import { Welcome } from "../features/welcome/Welcome";
import { Announcer } from "./Announcer";
import { Dialogs } from "./Dialogs";
import { session } from "../session/session";
import { useShortcuts } from "../session/shortcuts";
import { Splitter } from "./Splitter";
import { StatusBar } from "./StatusBar";
import { useTextSizes } from "./sizes";
import { useTitle } from "./title";
import { useSeen } from "./useSeen";
import { useTheme } from "./theme";
import { Toast } from "./Toast";
import { TopBar } from "./TopBar";

const DeskPage = later("The desk", () => import("../features/desk/DeskPage"), (m) => m.DeskPage);

const NARROW = { rail: "narrow-rail", none: "narrow-none" };

export function App() {
  useTheme();
  useTitle();
  useSeen();
  useTextSizes();
  useShortcuts();
  const sidebarOpen = useStore(viewStore, (v) => v.sidebarOpen);
  const narrow = useStore(viewStore, (v) => v.narrow);
  const selected = useStore(viewStore, (v) => v.selected);
  const page = useStore(viewStore, (v) => v.page);
  return (
    <div className={`frame ${narrow ? NARROW[narrow] : sidebarOpen ? "" : "no-sidebar"}`}>
      <TopBar />
      {(sidebarOpen || narrow === "rail") && (
        <ErrorBoundary what="Sidebar">
          {narrow === "rail" && <Rail covered={sidebarOpen} />}
          {sidebarOpen && (narrow ? <SidebarOver /> : <Sidebar />)}
        </ErrorBoundary>
      )}
      <main className="centre">
        {sidebarOpen && !narrow && <Splitter />}
        <Trouble />
        <ErrorBoundary key={selected || page} what="Panel">{selected ? <Dock channelId={selected} /> : page === "containers" ? <Alone /> : page === "desk" ? <DeskPage /> : <Welcome />}</ErrorBoundary>
      </main>
      <StatusBar />
      <ErrorBoundary what="Dialog">
        <Dialogs />
      </ErrorBoundary>
      <ErrorBoundary what="Quit Loop" onError={cancel}>
        <LeavingDialogs />
      </ErrorBoundary>
      <Toast />
      <Announcer />
    </div>
  );
}

/** Containers without a channel: those of channels that were removed stay to be seen. */
function Alone() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => { // the person asked for it, so it gets the keyboard
    box.current?.querySelector<HTMLElement>("[data-region]")?.focus();
  }, []);
  return <div className="centre-alone" ref={box}><ContainersPanel /></div>;
}

/** Says above the page that Loop does not answer, or does not accept the page's key. */
function Trouble() {
  const c = useStore(connectionStore);
  const ready = useStore(frameStore, (f) => f.ready);
  if (c.state === "denied") {
    return (
      <div className="trouble">
        <FailureCard failure={{ code: "denied", cause: "This page has no valid key.", remedy: "Open the address that “loop serve” printed, with everything after the #. A new start of Loop makes a new key." }} />
      </div>
    );
  }
  if (c.state === "offline") {
    return (
      <div className="trouble">
        <div className="banner need">
          <Unplug size={14} aria-hidden />
          <p>
            <strong>Loop does not answer.</strong>{" "}
            {ready ? "The page shows the state of its last answer. Prompts that you send go out when it answers again." : "Start it with “loop serve” or “make run”; this page connects by itself."}
          </p>
          <Button look="small" onClick={() => session().reconnect()}>Try now</Button>
        </div>
      </div>
    );
  }
  if (c.snapshotFailure) {
    return (
      <div className="trouble">
        <FailureCard failure={c.snapshotFailure}>
          <Button look="small" onClick={() => void session().refresh()}>Try again</Button>
        </FailureCard>
      </div>
    );
  }
  return null;
}
