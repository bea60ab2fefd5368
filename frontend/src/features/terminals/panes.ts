// The reported state of the terminals on the page, and the handles to act on them.
import { createStore } from "zustand/vanilla";
import type { PanelID } from "../../model/dock/layout";
import type { PaneHandle, PaneInfo } from "./props";

export const panesStore = createStore<Record<PanelID, PaneInfo>>(() => ({}));
export const handles = new Map<PanelID, PaneHandle>();

export function told(id: PanelID, info: PaneInfo) {
  panesStore.setState({ [id]: info });
}

export function forget(id: PanelID) {
  panesStore.setState(({ [id]: _gone, ...rest }) => rest, true);
}
