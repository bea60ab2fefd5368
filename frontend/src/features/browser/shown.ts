// What a pane shows, and what it begins with.
import type { BrowserLine, BrowserRequest, BrowserState, BrowserTarget } from "../../api/browser-messages";
import type { Evaluated } from "../../model/browser/evaluated";
import type { DeviceID } from "../../model/browser/place";

export type Drawer = "" | "console" | "network" | "downloads";
export type Shown = {
  link: "connecting" | "open" | "lost";
  state: BrowserState | null;
  error: string; // of the last act, until the next
  painted: boolean; // there is a picture
  device: DeviceID;
  narrow: boolean; // the tools are in the menu
  scale: number; // in percent, of how large the page is drawn
  drawer: Drawer;
  lines: BrowserLine[];
  requests: BrowserRequest[];
  evaluated: Evaluated[];
  finding: boolean;
  picking: boolean;
  picked: BrowserTarget | null;
  pressed: { x: number; y: number }; // where on the page a button was pressed last
  closed: number; // id of the last popup that was closed
  deedPage: string; // the page on which the agent did what it did last
  resetting: boolean; // the person is asked
  sending: string; // files on their way to the page
  dismissed: string[]; // notices
};

export const begun: Shown = {
  link: "connecting", state: null, error: "", painted: false, device: "fit", narrow: false, scale: 100, drawer: "", lines: [], requests: [], evaluated: [], finding: false,
  picking: false, picked: null, pressed: { x: 0, y: 0 }, closed: 0, deedPage: "", resetting: false, sending: "", dismissed: [],
};

/** The page that is shown: its tab and address. */
export const pageOf = (state: BrowserState | null) => {
  const t = state?.tabs.find((x) => x.active);
  return t ? `${t.target_id} ${t.url}` : "";
};
