import { useCallback, useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, GateChain, GateRecord, GateWhy } from "../../api/types";
import { useSettled } from "../../dock/useSettled";
import { toastFailure } from "../../model/stores";
import { session } from "../../session/session";

const WALKING_MS = 150; // who walks through the entries asks about the one at which they stop

/** What is known of the chosen entry besides its record: its place, its rule as it is now, and whether it holds. */
export function useWhy(channelId: ChannelID, record: GateRecord | undefined) {
  const id = useSettled(record?.id ?? "", WALKING_MS);
  const [said, setSaid] = useState<{ id: string; why: GateWhy | null; failure: Failure | null }>({ id: "", why: null, failure: null });
  useEffect(() => {
    let over = false;
    if (!id) return;
    session().api.gateLog.why(channelId, id)
      .then((why) => !over && setSaid({ id, why, failure: null }), (err: unknown) => !over && setSaid({ id, why: null, failure: toFailure(err) }));
    return () => {
      over = true;
    };
  }, [channelId, id]);
  const mine = record?.id && said.id === record.id;
  return { why: mine ? said.why : null, failure: mine ? said.failure : null };
}

/** The chain of a channel's record, looked at when the panel opens and when the person asks. */
export function useChain(channelId: ChannelID) {
  const [chain, setChain] = useState<GateChain | null>(null);
  const [busy, setBusy] = useState(false);
  const verify = useCallback(async () => {
    setBusy(true);
    try {
      setChain(await session().api.gateLog.chain(channelId));
    } catch (err) {
      toastFailure(err);
    } finally {
      setBusy(false);
    }
  }, [channelId]);
  useEffect(() => void verify(), [verify]);
  return { chain, busy, verify };
}
