import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "./styles/tokens.css";
import "./styles/symbols.css";
import "./styles/base.css";
import "./ui/ui.css";
import "./app/app.css";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { PANELS } from "./app/panels";
import { loadChoice, recall } from "./shell/memory";
import { startSession } from "./session/session";
import { select } from "./session/actions";
import { followWaiting, takeRunLink } from "./session/playback";
import { followRowWaiting, takeRowLink } from "./session/rowlink";
import { applyTheme } from "./app/theme";
import { parseTheme } from "./model/theme";
import { register } from "./dock/panels";
import { TimelinePanel } from "./features/timeline/panel";
import { asked } from "./session/leave";
import { parseOutbox } from "./model/outbox";
import { frameStore, outboxStore, viewStore } from "./model/stores";
import { keepPage } from "./shell/drops";
import { openBridge } from "./shell/open";

const RECALL_MS = 400; // Loop is on this computer; after this time the page begins with the browser's memory

register(PANELS);
keepPage();
applyTheme(loadChoice("theme") || "system", loadChoice("contrast"), parseTheme(loadChoice("look")));
outboxStore.setState({ letters: parseOutbox(loadChoice("outbox")) });

function takeLinks() {
  takeRunLink();
  takeRowLink();
}
takeLinks();
window.addEventListener("hashchange", takeLinks);
// The first screen needs it; it comes while Loop is asked. The panel itself says when it cannot be loaded.
const timeline = TimelinePanel.load().catch(() => undefined);
const bridge = await openBridge();
const session = startSession(bridge);
bridge.onAsk(asked);
await Promise.race([Promise.all([recall(session.api.system), timeline]), new Promise((r) => setTimeout(r, RECALL_MS))]);

const theme = loadChoice("theme") || "system";
const contrast = loadChoice("contrast");
const look = parseTheme(loadChoice("look"));
applyTheme(theme, contrast, look);
// A narrow or much enlarged page has no room for the sidebar beside the rest, and then none for its rail.
const [narrow, tiny] = [matchMedia("(max-width: 999px)"), matchMedia("(max-width: 479px)")];
const room = () => ({ narrow: tiny.matches ? ("none" as const) : narrow.matches ? ("rail" as const) : ("" as const), sidebarOpen: !narrow.matches && loadChoice("sidebar") !== "closed" });
for (const m of [narrow, tiny]) m.addEventListener("change", () => viewStore.setState(room()));
viewStore.setState({ theme, look, contrast, ...room() });

const remembered = loadChoice("selected");
if (remembered) viewStore.setState({ selected: remembered });

// The channel of the last visit comes back once the page knows that it still exists. It may know by now.
const stop = frameStore.subscribe(() => begin());
begin();

function begin() {
  const f = frameStore.getState();
  if (!f.ready) return;
  stop();
  const { selected } = viewStore.getState();
  if (f.channels.some((c) => c.channel_id === selected)) select(selected);
  else {
    select("");
    void session.doctor();
  }
  followWaiting();
  followRowWaiting();
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
