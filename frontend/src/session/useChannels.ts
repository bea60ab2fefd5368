import { useMemo, useSyncExternalStore } from "react";
import type { ChannelView } from "../api/types";
import { needing } from "../model/gate";
import { frameStore } from "../model/stores";

/** The channels as they are shown: those with a held call need the person. */
export function useChannels(): ChannelView[] {
  const read = frameStore.getState;
  const channels = useSyncExternalStore(frameStore.subscribe, () => read().channels, () => read().channels);
  const approvals = useSyncExternalStore(frameStore.subscribe, () => read().approvals, () => read().approvals);
  return useMemo(() => needing(channels, approvals), [channels, approvals]);
}
