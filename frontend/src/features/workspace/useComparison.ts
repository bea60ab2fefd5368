import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";
import { isFailure, toFailure } from "../../api/failure";
import type { ChannelID, CopyComparison, Failure, LeftCopy, TrashedCopy } from "../../api/types";
import { useNews } from "../../dock/useNews";
import { plural } from "../../model/format";
import { toast, toastFailure } from "../../model/stores";
import { session } from "../../session/session";

const NEWS_MS = 2000; // what several acts of an agent changed is compared at once
const CHANGED = new Set(["tool.result", "messages.processed"]);

/** A channel's copy beside its original, compared again when an agent has done something. */
export function useComparison(channelId: ChannelID, panel: RefObject<HTMLElement | null>) {
  const [c, setC] = useState<CopyComparison | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [at, setAt] = useState(0);
  const [busy, setBusy] = useState(false);
  const asked = useRef(0);

  const compare = useCallback(async () => {
    const n = ++asked.current;
    try {
      const now = await session().api.workspaces.compare(channelId);
      if (n !== asked.current) return;
      setC(now);
      setAt(Date.now());
      setFailure(null);
    } catch (err) {
      if (n === asked.current) setFailure(toFailure(err));
    }
  }, [channelId]);

  useEffect(() => void compare(), [compare]);
  const news = useCallback(() => void compare(), [compare]);
  useNews(channelId, panel, CHANGED, NEWS_MS, news);

  /** Does something that can be undone, says so, and compares again. */
  const act = useCallback(async (done: string, f: () => Promise<TrashedCopy>) => {
    setBusy(true);
    const undo = async (id: string) => {
      try {
        await session().api.workspaces.restore(id);
        toast("Undone.");
      } catch (err) {
        toastFailure(err);
      }
      void compare();
    };
    try {
      const { id } = await f();
      toast(done, null, { name: "Undo", run: () => void undo(id) });
      return true;
    } catch (err) {
      toast(isFailure(err) ? err.cause : toFailure(err).cause, toFailure(err));
      return false;
    } finally {
      setBusy(false);
      void compare();
    }
  }, [compare]);

  const bring = useCallback((way: "promote" | "pull", marks: Record<string, string>) => {
    const files = plural(Object.keys(marks).length, "file");
    const { workspaces } = session().api;
    return way === "promote" ? act(`${files} brought into the original.`, () => workspaces.promote(channelId, marks)) : act(`${files} brought into the copy.`, () => workspaces.pull(channelId, marks));
  }, [act, channelId]);

  return { c, failure, at, busy, compare, act, bring };
}

/** Copies that there are, and what can come back. */
export function useCopies(when: number) {
  const [left, setLeft] = useState<LeftCopy[]>([]);
  const [trash, setTrash] = useState<TrashedCopy[]>([]);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let over = false;
    const { workspaces } = session().api;
    Promise.all([workspaces.left(), workspaces.trash()]).then(([l, t]) => {
      if (over) return;
      setLeft(l ?? []);
      setTrash(t ?? []);
    }, (err: unknown) => !over && toastFailure(err));
    return () => {
      over = true;
    };
  }, [when, times]);
  return { left, trash, again: () => setTimes((n) => n + 1) };
}

/** Both texts of a file. */
export function useTexts(channelId: ChannelID, path: string, mark: string) {
  const [said, setSaid] = useState<{ key: string; original: string; copy: string; failure: Failure | null }>({ key: "", original: "", copy: "", failure: null });
  const key = path && `${path}\n${mark}`;
  useEffect(() => {
    let over = false;
    if (!key) return;
    session().api.workspaces.texts(channelId, path).then((t) => !over && setSaid({ key, ...t, failure: null }), (err: unknown) => !over && setSaid({ key, original: "", copy: "", failure: toFailure(err) }));
    return () => {
      over = true;
    };
  }, [channelId, path, key]);
  return said.key === key ? said : null;
}
