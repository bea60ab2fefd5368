import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { fetchRecording } from "../../api/terminals";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, Recording } from "../../api/types";
import { footageStore, noFootage } from "../../model/footage";
import { playbackOf } from "../../model/playback/lanes";
import { lastRun, playedStore } from "../../model/playback/store";
import { frameStore, timelineOf, timelinesStore } from "../../model/stores";
import type { Cast } from "../../model/terminals/cast";
import { MAX_CAST, parseCast } from "../../model/terminals/cast";
import { wantFootage } from "../../session/footage";
import { session } from "../../session/session";
import { useNow } from "../../ui/useNow";

/** The run that is played, with all that is known of it. Its older items are loaded until its beginning is there. */
export function usePlayback(channelId: ChannelID) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const played = useStore(playedStore, (all) => all[channelId]);
  const dir = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.dir ?? "");
  const run = played?.run || lastRun(t.built);
  const footage = useStore(footageStore, (all) => all[run] ?? noFootage);
  const items = useMemo(() => t.built.items.filter((it) => it.runId === run), [t.built.items, run]);
  const info = t.built.runs[run];
  const begun = Boolean(info?.startedAt) || items.some((it) => it.kind === "prompt" || it.kind === "start");
  const missing = t.phase === "ready" && !begun && t.hasMore && run !== "";
  useEffect(() => {
    if (run) wantFootage(run);
  }, [run]);
  useEffect(() => {
    if (missing && !t.loadingOlder && !t.olderFailure) void session().loadOlder(channelId);
  }, [missing, t.loadingOlder, t.olderFailure, channelId]);
  const running = Boolean(info && !info.endedAt);
  const now = useNow(running);
  const until = running ? now : 0;
  const playback = useMemo(() => playbackOf(items, info, footage.frames, dir, until), [items, info, footage.frames, dir, until]);
  return { run, from: played?.from ?? 0, visit: played?.visit ?? 0, playback, footage, running, loading: t.phase === "loading" || t.phase === "empty" || missing, failure: t.failure ?? (missing ? t.olderFailure : null) };
}

/** The recordings of a channel's terminals that were made during a run. */
export function useRecordings(channelId: ChannelID, began: number, length: number): { recordings: Recording[]; unlisted: Failure | null } {
  const [list, setList] = useState<Recording[]>([]);
  const [unlisted, setUnlisted] = useState<Failure | null>(null);
  const known = began > 0;
  useEffect(() => {
    if (!known) return;
    let gone = false;
    session().api.terminals.recordings().then((l) => {
      if (gone) return;
      setList((l ?? []).filter((r) => r.channel_id === channelId));
      setUnlisted(null);
    }, (err: unknown) => gone || setUnlisted(toFailure(err)));
    return () => {
      gone = true;
    };
  }, [channelId, known]);
  const recordings = useMemo(() => list.filter((r) => {
    const from = Date.parse(r.started_at) - began;
    return from < length && from + r.duration_ms > 0;
  }), [list, began, length]);
  return { recordings, unlisted };
}

/** One recording, read and parsed. */
export function useCast(name: string): { cast: Cast | null; failure: Failure | null } {
  const [got, setGot] = useState<{ of: string; cast: Cast | null; failure: Failure | null }>({ of: "", cast: null, failure: null });
  useEffect(() => {
    if (!name) return;
    const stop = new AbortController();
    session().endpoint().then((at) => fetchRecording(at, name, MAX_CAST, stop.signal)).then((text) => {
      const cast = parseCast(text);
      setGot({ of: name, cast, failure: cast ? null : { code: "recording", cause: "This file is not a recording that can be played.", remedy: "" } });
    }).catch((err: unknown) => stop.signal.aborted || setGot({ of: name, cast: null, failure: toFailure(err) }));
    return () => stop.abort();
  }, [name]);
  return got.of === name ? got : { cast: null, failure: null };
}
