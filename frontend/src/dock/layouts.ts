// Reads, changes and keeps the layouts of channels.
import type { ChannelID, LoopEvent } from "../api/types";
import * as change from "../model/dock/change";
import type { Layout, Panel, PanelID } from "../model/dock/layout";
import { startLayout } from "../model/dock/layout";
import { restore, store } from "../model/dock/stored";
import { layoutsStore } from "../model/dock/store";
import { batchListeners } from "../model/stores";
import { loadChoice, recallListeners, saveChoice } from "../shell/memory";
import { kindNamed } from "./panels";

const SAVE_MS = 200;

export function layoutOf(channel: ChannelID): Layout {
  const known = layoutsStore.getState()[channel];
  if (known) return known;
  const read = channel ? restore(loadChoice(`dock.${channel}`), kindNamed) : startLayout();
  if (channel) layoutsStore.setState({ [channel]: read });
  return read;
}

const unsaved = new Set<ChannelID>();
let timer: ReturnType<typeof setTimeout> | undefined;

export function saveLayouts() {
  clearTimeout(timer);
  for (const ch of unsaved) saveChoice(`dock.${ch}`, store(layoutOf(ch), kindNamed));
  unsaved.clear();
}

export function update(channel: ChannelID, f: (l: Layout) => Layout) {
  const before = layoutOf(channel);
  const after = f(before);
  if (after === before) return;
  layoutsStore.setState({ [channel]: after });
  unsaved.add(channel);
  clearTimeout(timer);
  timer = setTimeout(saveLayouts, SAVE_MS);
}

/** Has a panel come back with this, as its kind stores it. */
export const keepData = (channel: ChannelID, panel: PanelID, data: unknown) => update(channel, (l) => change.setData(l, panel, data));

/** Closes such panels in every channel, because their content is gone for good. */
export function closeEverywhere(is: (p: Panel) => boolean) {
  for (const ch of Object.keys(layoutsStore.getState())) update(ch, (l) => change.closeWhere(l, is));
}

function onEvents(batch: LoopEvent[]) {
  for (const ev of batch) {
    if (ev.type !== "channel.deleted" || !ev.channel_id) continue;
    const ch = ev.channel_id;
    layoutsStore.setState(({ [ch]: _gone, ...rest }) => rest, true);
    unsaved.delete(ch);
    saveChoice(`dock.${ch}`, "");
  }
}

batchListeners.add(onEvents);

/** Takes layouts that Loop sent late, unless a layout was changed meanwhile. */
recallListeners.add(() => {
  for (const [ch, l] of Object.entries(layoutsStore.getState())) {
    const text = loadChoice(`dock.${ch}`);
    if (!unsaved.has(ch) && text !== store(l, kindNamed)) layoutsStore.setState({ [ch]: restore(text, kindNamed) });
  }
});
