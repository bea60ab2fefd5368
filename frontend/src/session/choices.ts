// What a person chooses on the prompt box for its channel, from the next run on.
import type { ChannelID, ChannelView } from "../api/types";
import { frameStore, toastFailure } from "../model/stores";
import { startWith } from "./branches";
import { session } from "./session";

const channelOf = (id: ChannelID) => frameStore.getState().channels.find((c) => c.channel_id === id);

/** Changes the channel's own model or effort, and nothing else of its choices. */
export async function chooseForChannel(id: ChannelID, part: { model?: string; effort?: string }) {
  try {
    const made = await session().api.channels.choose(id, { ...channelOf(id)?.choices, ...part });
    frameStore.setState((f) => ({ channels: f.channels.map((c) => (c.channel_id === id ? { ...c, choices: made.choices } : c)) as ChannelView[] }));
  } catch (err) {
    toastFailure(err);
  }
}

/** Has the channel's next run go on with the channel's conversation, whatever was chosen for it. */
export async function dropNextSession(id: ChannelID) {
  try {
    await startWith(id, {});
  } catch (err) {
    toastFailure(err);
  }
}
