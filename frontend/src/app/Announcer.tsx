import { useEffect } from "react";
import { createPortal } from "react-dom";
import { useStore } from "zustand";
import type { Approval, ChannelState, ChannelView } from "../api/types";
import type { FrameState } from "../model/frame";
import { announcement } from "../model/gate";
import { announce, announceStore, frameStore } from "../model/stores";
import { visible } from "../model/text";
import { tellRemembered } from "../session/remembered";
import { keyText } from "../ui/keys";

const SAID: Partial<Record<ChannelState, string>> = { working: "started", needs_you: "needs you", done: "is done", failed: "failed" };

/** Says how many prompts wait behind the agent's question. */
function behind(c: ChannelView): string {
  if (c.state !== "needs_you" || c.queued === 0) return "";
  return c.queued === 1 ? "; a prompt waits for that" : `; ${c.queued} prompts wait for that`;
}

/** Says what came to wait, and what ended without the person. */
function held(now: FrameState, before: FrameState): string[] {
  if (now.approvals === before.approvals && now.answered === before.answered) return [];
  const name = (a: Approval) => visible(now.channels.find((c) => c.channel_id === a.channel_id)?.name ?? "A channel");
  const known = new Set([...before.approvals, ...before.answered].map((a) => a.approval_id + a.state));
  return [...now.approvals, ...now.answered].filter((a) => !known.has(a.approval_id + a.state)).map((a) => visible(announcement(a, name(a), keyText("page.next-waiting")))).filter(Boolean);
}

/** Says changes of the channels' states to a screen reader, and shows what an answer has written. */
export function Announcer() {
  const { text, times } = useStore(announceStore);
  useEffect(() => tellRemembered(), []);
  useEffect(
    () =>
      frameStore.subscribe((now, before) => {
        if (!before.ready) return;
        const waiting = held(now, before).join(" ");
        if (waiting) announce(waiting);
        if (now.channels === before.channels) return;
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
