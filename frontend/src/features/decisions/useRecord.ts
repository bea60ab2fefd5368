import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, GateLogPage, GateLogSummary, LoopEvent } from "../../api/types";
import { useSettled } from "../../dock/useSettled";
import type { LogFilter, LogRun } from "../../model/gate-log";
import { queryOf, runsOf } from "../../model/gate-log";
import { batchListeners } from "../../model/stores";
import { session } from "../../session/session";

const NEWS_MS = 1500; // several decisions in a row are read at once
const TYPING_MS = 200;

/**
 * Reads a channel's record: what it has of all runs, and of the chosen one (null: the newest)
 * its counts and the newest page of what fits. more reads the next older page. What is decided
 * meanwhile is read while atTop says that the newest entries are in sight; else news is set.
 */
export function useRecord(channelId: ChannelID, chosen: LogRun | null, filter: LogFilter) {
  const [whole, setWhole] = useState<GateLogSummary | null>(null);
  const [counted, setCounted] = useState<{ run: LogRun; summary: GateLogSummary } | null>(null);
  const [pages, setPages] = useState<GateLogPage[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [olderFailure, setOlderFailure] = useState<Failure | null>(null);
  const [reading, setReading] = useState(false);
  const [news, setNews] = useState(false);
  const atTop = useRef(true);
  const asked = useRef({ page: 0, run: 0 }); // the newest request; the answer of an older one is not shown
  const typed = useSettled(filter.text, TYPING_MS);
  const text = filter.text && typed; // an emptied field counts at once

  const runs = useMemo(() => runsOf(whole?.groups ?? []), [whole]);
  const run: LogRun | null = whole === null ? null : (chosen ?? runs[0]?.run ?? "all");
  const query = useMemo(() => (run === null ? null : queryOf(channelId, run, { show: filter.show, kind: filter.kind, text })), [channelId, run, filter.show, filter.kind, text]);

  const countAll = useCallback(async () => {
    try {
      setWhole(await session().api.gateLog.summary(queryOf(channelId, "all")));
    } catch (err) {
      setFailure(toFailure(err));
    }
  }, [channelId]);

  const countRun = useCallback(async () => {
    if (run === null) return;
    const n = ++asked.current.run;
    try {
      const summary = await session().api.gateLog.summary(queryOf(channelId, run));
      if (n === asked.current.run) setCounted({ run, summary });
    } catch (err) {
      if (n === asked.current.run) setFailure(toFailure(err));
    }
  }, [channelId, run]);

  /** Reads a page, as the newest or after all that are there. */
  const read = useCallback(async (after: string, got: (p: GateLogPage) => void, failed: (f: Failure | null) => void) => {
    if (!query) return;
    const n = ++asked.current.page;
    const latest = () => n === asked.current.page;
    setReading(true);
    try {
      const page = await session().api.gateLog.page(after ? { ...query, after } : query);
      if (!latest()) return;
      got(page);
      failed(null);
    } catch (err) {
      if (latest()) failed(toFailure(err));
    } finally {
      if (latest()) setReading(false);
    }
  }, [query]);

  const newest = useCallback(() => {
    setNews(false);
    return read("", (page) => {
      setPages([page]);
      setOlderFailure(null);
    }, setFailure);
  }, [read]);
  const next = pages?.at(-1)?.next ?? "";
  const more = useCallback(() => read(next, (page) => setPages((p) => [...(p ?? []), page]), setOlderFailure), [read, next]);

  useEffect(() => void countAll(), [countAll]);
  useEffect(() => void countRun(), [countRun]);
  useEffect(() => {
    atTop.current = true;
    void newest();
  }, [newest]);

  const react = useRef<(of: Set<string>) => void>(() => undefined);
  useEffect(() => {
    react.current = (of) => {
      // A run that has no entry yet is in the count of all alone.
      if ([...of].some((id) => !runs.some((r) => r.run === id))) void countAll();
      void countRun();
      if (atTop.current) void newest();
      else setNews(true);
    };
  }, [countAll, countRun, newest, runs]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const of = new Set<string>();
    const listen = (batch: LoopEvent[]) => {
      for (const e of batch) if (e.channel_id === channelId && (e.type === "gate.decided" || e.type === "gate.resolved")) of.add(e.run_id ?? "");
      if (of.size === 0) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        react.current(of);
        of.clear();
      }, NEWS_MS);
    };
    batchListeners.add(listen);
    return () => {
      clearTimeout(timer);
      batchListeners.delete(listen);
    };
  }, [channelId]);

  const again = () => {
    void countAll();
    void countRun();
    void newest();
  };
  return { runs, run, summary: counted?.run === run ? counted.summary : null, pages, failure, olderFailure, reading, news, next, more, newest, again, atTop };
}
