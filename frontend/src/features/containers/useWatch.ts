import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, ContainerPort, Explanation, Failure, LoopEvent, WatchedContainer } from "../../api/types";
import type { ContainerWatch } from "../../api/types";
import type { FollowedLog } from "../../model/container-log";
import { append, noLog } from "../../model/container-log";
import { batchListeners } from "../../model/stores";
import { session } from "../../session/session";

const EVERY_MS = 5000; // as often as Loop takes samples
const SOON_MS = 1500; // the first sample of a container comes after a second
const LOG_MS = 1000;

const HIDDEN_MS = 500;

/** Whether the person can see the panel: it is behind no other tab, and the window is not put away. */
const seen = () => document.visibilityState === "visible" && [...document.querySelectorAll(".containers-panel")].some((el) => getComputedStyle(el).visibility === "visible");

/** Calls again and again while the panel is seen: each time some milliseconds after the last call has ended, as the answer says. The returned function ends that. */
function repeat(call: () => Promise<number>): { end(): void; soon(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false, busy = false, again = false;
  const go = async () => {
    clearTimeout(timer);
    if (!seen()) {
      timer = setTimeout(() => void go(), HIDDEN_MS);
      return;
    }
    again = false;
    busy = true;
    const wait = await call();
    busy = false;
    if (!over) timer = setTimeout(() => void go(), again ? 0 : wait);
  };
  void go();
  return {
    end: () => {
      over = true;
      clearTimeout(timer);
    },
    soon: () => {
      if (over) return;
      if (busy) again = true;
      else void go();
    },
  };
}

export type Watched = { watch: ContainerWatch | null; failure: Failure | null; again(): void };

/** All containers, for as long as the panel is shown. An answer that failed leaves the last one. */
export function useWatch(): Watched {
  const [watch, setWatch] = useState<ContainerWatch | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let over = false, looks = 0;
    const loop = repeat(async () => {
      try {
        const w = await session().api.containers.watch();
        if (over) return 0;
        setWatch(w);
        setFailure(null);
      } catch (err) {
        if (!over) setFailure(toFailure(err));
      }
      return ++looks < 3 ? SOON_MS : EVERY_MS;
    });
    const news = (batch: LoopEvent[]) => {
      if (!batch.some((e) => e.type.startsWith("container.") || e.type === "config.changed")) return;
      looks = 0;
      loop.soon();
    };
    batchListeners.add(news);
    return () => {
      over = true;
      loop.end();
      batchListeners.delete(news);
    };
  }, [tries]);
  return { watch, failure, again: () => setTries((n) => n + 1) };
}

export type Ports = { list: ContainerPort[] | null; failure: Failure | null };

/** The ports of a container, while it runs. tried: Loop is to ask each for a page. */
export function usePorts(c: WatchedContainer | undefined, tried: boolean): Ports {
  const [ports, setPorts] = useState<Ports & { id: string }>({ id: "", list: null, failure: null });
  const id = c?.status === "running" && c.type !== "chrome" ? c.container_id : "";
  useEffect(() => {
    if (!id) return;
    let over = false;
    const loop = repeat(async () => {
      try {
        const list = (await session().api.containers.ports(id, tried)) ?? [];
        if (!over) setPorts({ id, list, failure: null });
      } catch (err) {
        if (!over) setPorts({ id, list: null, failure: toFailure(err) });
      }
      return EVERY_MS;
    });
    return () => {
      over = true;
      loop.end();
    };
  }, [id, tried]);
  if (!id) return { list: [], failure: null };
  return ports.id === id ? ports : { list: null, failure: null };
}

export type Why = { why: Explanation | null; failure: Failure | null };

/** What the channel's next container would be made of. version: another one asks again. */
export function useWhy(channel: ChannelID, version: string): Why & { again(): void } {
  const [said, setSaid] = useState<Why & { channel: ChannelID }>({ channel: "", why: null, failure: null });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!channel) return;
    let over = false;
    session().api.system.explain(channel, false)
      .then((why) => !over && setSaid({ channel, why, failure: null }), (err) => !over && setSaid({ channel, why: null, failure: toFailure(err) }));
    return () => {
      over = true;
    };
  }, [channel, version, tries]);
  const again = () => setTries((n) => n + 1);
  return said.channel === channel ? { ...said, again } : { why: null, failure: null, again };
}

const FIRST_LINES = 1000;

/** The log of a container, from its last lines on, while it is shown. */
export function useLog(id: string): { log: FollowedLog; running: boolean; ready: boolean; failure: Failure | null } {
  const [state, setState] = useState({ id: "", log: noLog, running: true, failure: null as Failure | null });
  useEffect(() => {
    let over = false, log = noLog;
    const loop = repeat(async () => {
      try {
        const got = await session().api.containers.log(id, log.next, log.next ? 0 : FIRST_LINES);
        if (over) return 0;
        log = append(log, got.text, got.next ?? "");
        setState((s) => (s.id === id && s.log === log && s.running === got.running && !s.failure ? s : { id, log, running: got.running, failure: null }));
        return got.running ? LOG_MS : EVERY_MS;
      } catch (err) {
        const failure = toFailure(err);
        if (!over) setState({ id, log, running: true, failure });
        return EVERY_MS;
      }
    });
    return () => {
      over = true;
      loop.end();
    };
  }, [id]);
  return state.id === id ? { ...state, ready: true } : { log: noLog, running: true, ready: false, failure: null };
}
