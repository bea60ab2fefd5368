import { useMemo, useSyncExternalStore } from "react";
import type { ShownChannel } from "../model/gate";
import { needing } from "../model/gate";
import { frameStore } from "../model/stores";

/** The channels as they are shown: those with a held call, or whose browser the person holds, need the person. */
export function useChannels(): ShownChannel[] {
  const read = frameStore.getState;
  const channels = useSyncExternalStore(frameStore.subscribe, () => read().channels, () => read().channels);
  const approvals = useSyncExternalStore(frameStore.subscribe, () => read().approvals, () => read().approvals);
  return useMemo(() => needing(channels, approvals), [channels, approvals]);
}
