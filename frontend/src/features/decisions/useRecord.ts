import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, GateLogFile, GateRecord, LoopEvent } from "../../api/types";
import { READ_MOST } from "../../model/gate-log";
import { batchListeners } from "../../model/stores";
import { session } from "../../session/session";

const NEWS_MS = 1500; // several decisions in a row are read at once

/** Reads a channel's record, and again some time after something was decided. */
export function useRecord(channelId: ChannelID) {
  const [records, setRecords] = useState<GateRecord[] | null>(null);
  const [files, setFiles] = useState<GateLogFile[] | null>(null);
  const [verified, setVerified] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const alive = useRef(true);

  const load = useCallback(async () => {
    try {
      const list = await session().api.gateLog.read({ channel_id: channelId, limit: READ_MOST });
      if (!alive.current) return;
      setRecords(list ?? []);
      setFailure(null);
    } catch (err) {
      if (alive.current) setFailure(toFailure(err));
    }
  }, [channelId]);
  const verify = useCallback(async () => {
    setBusy(true);
    try {
      const list = await session().api.gateLog.verify();
      if (!alive.current) return;
      setFiles(list ?? []);
      setVerified(Date.now());
    } catch (err) {
      if (alive.current) setFailure(toFailure(err));
    } finally {
      if (alive.current) setBusy(false);
    }
  }, []);

  useEffect(() => {
    alive.current = true;
    void load();
    void verify();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const news = (batch: LoopEvent[]) => {
      if (timer || !batch.some((e) => e.channel_id === channelId && (e.type === "gate.decided" || e.type === "gate.resolved"))) return;
      timer = setTimeout(() => {
        timer = undefined;
        void load();
      }, NEWS_MS);
    };
    batchListeners.add(news);
    return () => {
      alive.current = false;
      clearTimeout(timer);
      batchListeners.delete(news);
    };
  }, [channelId, load, verify]);
  return { records, files, verified, failure, busy, load, verify };
}
