import { Check, CircleDashed, Clock3, TriangleAlert, X } from "lucide-react";
import type { ChannelState } from "../api/types";
import { elapsed } from "../model/format";
import { Spinner } from "./Mark";
import { useNow } from "./useNow";

const WORDS: Record<ChannelState, string> = { idle: "idle", queued: "queued", working: "working", needs_you: "needs you", done: "done", failed: "failed" };

type Props = { state: ChannelState; since?: string; queued?: number; count?: number; driven?: boolean };

/** The state of a channel, or of several summed up as one, by colour, icon and word together. driven: the person is needed because they drive its browser. */
export function StateWord({ state, since, queued = 0, count = 1, driven = false }: Props) {
  const start = since ? Date.parse(since) : 0;
  const now = useNow(state === "working" && start > 0);
  const time = state === "working" && start > 0 && now - start > 2000 ? ` ${elapsed(now - start)}` : "";
  return (
    <span className={`state ${state} tnum`}>
      <StateIcon state={state} />
      {driven ? "you drive" : stateWord(state, count)}
      {time}
      {queued > 0 && state !== "queued" ? ` +${queued}` : ""}
    </span>
  );
}

export function stateWord(state: ChannelState, count = 1): string {
  const word = WORDS[state] ?? state;
  return count > 1 && state !== "idle" ? `${count} ${state === "needs_you" ? "need you" : word}` : word;
}

export function StateIcon({ state }: { state: ChannelState }) {
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
