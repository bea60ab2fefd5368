import { History } from "lucide-react";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import { lastPrompt, REWIND_PANEL } from "../../model/rewind";
import { timelineOf, timelinesStore } from "../../model/stores";
import { goBackTo } from "../../session/rewind";
import { keys, MOD } from "../../ui/keys";
import { later } from "../../ui/Later";

const RewindPanel = later("Going back", () => import("./RewindPanel"), (m) => m.RewindPanel);

/** The panel that says what going back to before a prompt would do, and does it. */
export const rewindPanel: PanelKind<null> = {
  kind: REWIND_PANEL, noun: "way back",
  render: ({ channelId, panel }) => <RewindPanel key={channelId} channelId={channelId} panel={panel.id} />,
  face: () => ({ ...quietFace, title: "Back to here" }),
  icon: (_, size) => <History size={size} aria-hidden />,
  key: () => REWIND_PANEL,
  focus: ({ id }) => visit(id, ".rewind-list", ".rewind-body"),
  opens: (channel) => {
    const run = lastPrompt(timelineOf(timelinesStore.getState(), channel).built.items);
    return run ? [{ id: "rewind", name: "Back to before the last prompt", label: "Back to before the last prompt", icon: <History size={14} aria-hidden />, run: () => goBackTo(channel, run) }] : [];
  },
  keys: {
    place: "rewind",
    rows: () => [{ keys: "1 – 3", does: "Files and conversation, files only, conversation only" }, { keys: "↑ ↓", does: "Look at the next or previous file" }, { keys: keys(MOD, "↵"), does: "Go back" }, { keys: "Esc", does: "Cancel" }],
  },
};
