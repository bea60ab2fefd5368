// What can be done to containers, and where what they have can be seen.
import type { ChannelID, Holder, PrunedContainer, WatchedContainer } from "../../api/types";
import { openPanel, revealTimeline } from "../../dock/dock";
import { BROWSER_PANEL } from "../../model/browser/baton";
import { sessionsStore } from "../../model/dock/store";
import { plural } from "../../model/format";
import { browserVisitStore, frameStore, toast, toastFailure } from "../../model/stores";
import { focusPrompt, select } from "../../session/actions";
import { session } from "../../session/session";

/** Does something, and shows why where it fails. */
async function tried(act: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await act();
    toast(done);
    return true;
  } catch (err) {
    toastFailure(err);
    return false;
  }
}

export const recreate = (c: WatchedContainer) => tried(() => session().api.containers.recreate(c.channel_id), "The next run or terminal gets a new container. What works in this one goes on.");

export const stop = (c: WatchedContainer) => tried(() => session().api.containers.stop(c.container_id), c.scope ? "Stopped. The next run or terminal starts it again." : "Stopped.");

export const remove = (c: WatchedContainer, force: boolean) => tried(() => session().api.containers.remove(c.container_id, force), "Removed.");

/** Removes those of the list that still may go; one that was taken up meanwhile stays. */
export async function prune(list: PrunedContainer[]) {
  try {
    const gone = (await session().api.containers.prune(false, list.map((p) => p.container_id))) ?? [];
    const stayed = list.length - gone.length;
    toast(`${plural(gone.length, "container was", "containers were")} removed.${stayed > 0 ? ` ${plural(stayed, "other is", "others are")} used again or gone.` : ""}`);
  } catch (err) {
    toastFailure(err);
  }
}

/** The channel of a container, if it is still there. */
const channelOf = (id: ChannelID) => frameStore.getState().channels.find((c) => c.channel_id === id);

function visit(channel: ChannelID): boolean {
  if (channelOf(channel)) {
    select(channel);
    return true;
  }
  toast("The channel of this container was removed.");
  return false;
}

/** Shows what holds a container. */
export function showHolder(c: WatchedContainer, h: Holder) {
  const terminal = sessionsStore.getState().byId[h.id];
  if (!visit(terminal?.channel_id ?? c.channel_id)) return;
  if (terminal) openPanel({ kind: "terminal", data: { session: terminal.session_id, target: terminal.target, ...(terminal.plain || terminal.cmd?.length ? { plain: true } : {}) } });
  else if (h.kind === "browser") openPanel({ kind: BROWSER_PANEL, data: null });
  else {
    revealTimeline();
    focusPrompt();
  }
}

/** Opens a port of a container in the browser of its channel. */
export function openPort(c: WatchedContainer, url: string) {
  if (!visit(c.channel_id)) return;
  browserVisitStore.setState({ channel: c.channel_id, url });
  openPanel({ kind: BROWSER_PANEL, data: null });
}
