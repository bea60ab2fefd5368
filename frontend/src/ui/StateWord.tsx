import { Check, CircleDashed, Clock3, TriangleAlert, X } from "lucide-react";
import type { ChannelState } from "../api/types";
import { elapsed } from "../model/format";
import { Spinner } from "./Mark";
import { useNow } from "./useNow";

const WORDS: Record<ChannelState, string> = { idle: "idle", queued: "queued", working: "working", needs_you: "needs you", done: "done", failed: "failed" };

/** How a channel stands: colour, icon and word together. */
export function StateWord({ state, since, queued = 0 }: { state: ChannelState; since?: string; queued?: number }) {
  const start = since ? Date.parse(since) : 0;
  const now = useNow(state === "working" && start > 0);
  const time = state === "working" && start > 0 && now - start > 2000 ? ` ${elapsed(now - start)}` : "";
  return (
    <span className={`state ${state} tnum`}>
      {icon(state)}
      {WORDS[state] ?? state}
      {time}
      {queued > 0 && state !== "queued" ? ` +${queued}` : ""}
    </span>
  );
}

function icon(state: ChannelState) {
  switch (state) {
    case "working":
      return <Spinner size={12} />;
    case "needs_you":
      return <TriangleAlert size={13} aria-hidden />;
    case "done":
      return <Check size={13} aria-hidden />;
    case "failed":
      return <X size={13} aria-hidden />;
    case "queued":
      return <Clock3 size={12} aria-hidden />;
    default:
      return <CircleDashed size={12} aria-hidden />;
  }
}
