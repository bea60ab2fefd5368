import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { frameStore, outboxStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { DEMO_PROMPT, send } from "../../session/actions";
import { setDraft } from "../../session/drafts";
import { Starting } from "./rows/StartRow";

export function EmptyTimeline({ channelId }: { channelId: ChannelID }) {
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId));
  const letter = useStore(outboxStore, (o) => o.letters.find((l) => l.channelId === channelId && l.state === "sending"));
  if (letter) {
    return (
      <div className="column pad">
        <div className="item"><div className="bubble"><p>{letter.prompt}</p></div></div>
        <Starting word="Sending" />
      </div>
    );
  }
  const demo = channel?.kind === "demo";
  return (
    <div className="empty">
      <h3>{demo ? "Watch an agent work" : "Nothing here yet"}</h3>
      {demo ? (
        <p>
          The real Claude Code runs in a real container, against a scripted model that ships with Loop. No key, no network, and its files stay in a folder of their own.
        </p>
      ) : (
        <p>
          Say what you want changed. The agent works in a container that sees <span className="mono">{channel ? visible(channel.dir) : "this folder"}</span>, and what it does appears here.
        </p>
      )}
      {demo && (
        <Button look="primary large" onClick={() => { setDraft(channelId, ""); send(channelId, DEMO_PROMPT); }}>
          Run the demo
        </Button>
      )}
    </div>
  );
}
