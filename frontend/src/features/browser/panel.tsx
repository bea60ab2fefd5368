import { Globe } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { BROWSER_PANEL } from "../../model/browser/baton";
import { viewStore } from "../../model/stores";
import { keys, MOD, pressed } from "../../ui/keys";
import { paneOf } from "./pane";
import { later } from "../../ui/Later";

const BrowserPanel = later("The browser", () => import("./BrowserPanel"), (m) => m.BrowserPanel);

/** The panel of a channel's browser. */
export const browserPanel: PanelKind<null> = {
  kind: BROWSER_PANEL, noun: "browser",
  render: ({ channelId, panel }) => <BrowserPanel key={channelId} channelId={channelId} id={panel.id} />,
  face: () => ({ ...quietFace, title: "Browser" }),
  icon: (_, size) => <Globe size={size} aria-hidden />,
  store: () => ({}),
  load: () => null,
  key: () => BROWSER_PANEL,
  focus: ({ id }) => visit(id, ".browser-surface", ".browser-address input", ".browser"),
  opens: () => [{ id: "browser", name: "Open: browser", label: "Browser", icon: <Globe size={14} aria-hidden />, run: () => openPanel({ kind: BROWSER_PANEL, data: null }) }],
  keys: {
    press(e) {
      const means = pressed("browser", e);
      const pane = paneOf(viewStore.getState().selected);
      if ((means !== "browser.baton" && means !== "browser.pick") || !pane.open) return false;
      if (means === "browser.baton") pane.baton();
      else pane.toggle("picking");
      return true;
    },
    place: "browser",
    rows: () => [{ keys: `${keys(MOD, "C")}, ${keys(MOD, "V")}`, does: "Copy from the page, paste into it" }],
  },
};
