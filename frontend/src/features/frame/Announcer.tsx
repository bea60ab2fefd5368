import { useEffect, useState } from "react";
import type { ChannelState } from "../../api/types";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";

const SAID: Partial<Record<ChannelState, string>> = { working: "started", needs_you: "needs you", done: "is done", failed: "failed" };

/** Says to a screen reader what the state words show to others. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(
    () =>
      frameStore.subscribe((now, before) => {
        if (now.channels === before.channels || !before.ready) return;
        for (const c of now.channels) {
          const was = before.channels.find((x) => x.channel_id === c.channel_id)?.state;
          const word = SAID[c.state];
          if (was && was !== c.state && word) setText(`${visible(c.name)} ${word}`);
        }
      }),
    [],
  );
  return (
    <div className="sr-only" role="status" aria-live="polite">
      {text}
    </div>
  );
}
