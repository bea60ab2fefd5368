import { useEffect } from "react";
import { createPortal } from "react-dom";
import { useStore } from "zustand";
import type { ChannelState, ChannelView } from "../api/types";
import { announce, announceStore, frameStore } from "../model/stores";
import { visible } from "../model/text";

const SAID: Partial<Record<ChannelState, string>> = { working: "started", needs_you: "needs you", done: "is done", failed: "failed" };

/** Says how many prompts wait behind the agent's question. */
function behind(c: ChannelView): string {
  if (c.state !== "needs_you" || c.queued === 0) return "";
  return c.queued === 1 ? "; a prompt waits for that" : `; ${c.queued} prompts wait for that`;
}

/** Says changes of the channels' states to a screen reader. */
export function Announcer() {
  const { text, times } = useStore(announceStore);
  useEffect(
    () =>
      frameStore.subscribe((now, before) => {
        if (now.channels === before.channels || !before.ready) return;
        for (const c of now.channels) {
          const was = before.channels.find((x) => x.channel_id === c.channel_id)?.state;
          const word = SAID[c.state];
          if (was && was !== c.state && word) announce(`${visible(c.name)} ${word}${behind(c)}`);
        }
      }),
    [],
  );
  return createPortal(<div className="sr-only" role="status" aria-live="polite"><span key={times}>{text}</span></div>, document.body);
}
