import { Film } from "lucide-react";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { lastRun, PLAYBACK_PANEL } from "../../model/playback/store";
import { timelineOf, timelinesStore } from "../../model/stores";
import { playBack } from "../../session/playback";
import { later } from "../../ui/Later";

const PlaybackPanel = later("The playback", () => import("./PlaybackPanel"), (m) => m.PlaybackPanel);

/** The panel that plays a run back: its turns, decisions, pages and terminal on one clock. */
export const playbackPanel: PanelKind<null> = {
  kind: PLAYBACK_PANEL, noun: "playback",
  render: ({ channelId }) => <PlaybackPanel key={channelId} channelId={channelId} />,
  face: () => ({ ...quietFace, title: "Playback" }),
  icon: (_, size) => <Film size={size} aria-hidden />,
  key: () => PLAYBACK_PANEL,
  focus: ({ id }) => visit(id, ".playback-seek", ".playback"),
  opens: (channel) => {
    const run = lastRun(timelineOf(timelinesStore.getState(), channel).built);
    return run ? [{ id: "playback", name: "Play back the last run", label: "Playback of the last run", icon: <Film size={14} aria-hidden />, run: () => playBack(channel, run) }] : [];
  },
  keys: {
    place: "playback",
    rows: () => [{ keys: "← →", does: "One second back or on" }, { keys: "Home End", does: "To the beginning or the end" }, { keys: "Esc", does: "Back to where you were" }],
  },
};
