import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, ReviewDiff, ReviewStatus, RunID } from "../../api/types";
import { panelsChanged } from "../../dock/panels";
import { useNews } from "../../dock/useNews";
import type { Shown } from "../../model/review";
import { afterUndo, reviewCountStore, scopeOf } from "../../model/review";
import { toast, toastFailure } from "../../model/stores";
import { session } from "../../session/session";

const NEWS_MS = 3000; // what several acts of an agent changed is read at once
const CHANGED = new Set(["tool.result", "messages.processed"]);

export type FileState = { diff: ReviewDiff | null; failure: Failure | null };

async function tried(f: () => Promise<unknown>): Promise<boolean> {
  try {
    await f();
    return true;
  } catch (err) {
    toastFailure(err);
    return false;
  }
}

/** What changed in a channel's folder, read again when an agent has done something, and the chosen file of it. */
export function useReview(channelId: ChannelID, panel: RefObject<HTMLElement | null>, shown: Shown, run: RunID, path: string) {
  const [status, setStatus] = useState<ReviewStatus | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [file, setFile] = useState<FileState & { path: string }>({ path: "", diff: null, failure: null });
  const [reading, setReading] = useState(false);
  const [busy, setBusy] = useState("");
  const [times, setTimes] = useState(0);
  const asked = useRef(0);
  const acting = useRef(false);
  const { kind, from = "" } = scopeOf(shown, run);

  const read = useCallback(async () => {
    const n = ++asked.current;
    setReading(true);
    try {
      const now = await session().api.review.status(channelId, { kind, from });
      if (n !== asked.current) return;
      setStatus(now);
      setFailure(null);
      reviewCountStore.setState({ [channelId]: now.files?.length ?? 0 });
      panelsChanged();
    } catch (err) {
      if (n === asked.current) setFailure(toFailure(err));
    } finally {
      if (n === asked.current) {
        setReading(false);
        setTimes((t) => t + 1); // the file is read with the list
      }
    }
  }, [channelId, kind, from]);

  useEffect(() => { // of another scope nothing stays in sight
    setStatus(null);
    setTimes(0);
    void read();
  }, [read]);
  const news = useCallback(() => void read(), [read]);
  useNews(channelId, panel, CHANGED, NEWS_MS, news);

  useEffect(() => {
    let over = false;
    if (!path || times === 0) return;
    session().api.review.file(channelId, { kind, from: status?.run ?? from }, path).then(
      (diff) => !over && setFile({ path, diff, failure: null }),
      (err: unknown) => !over && setFile({ path, diff: null, failure: toFailure(err) }),
    );
    return () => {
      over = true;
    };
  }, [channelId, kind, from, status?.run, path, times]);

  /** Does one thing at a time, and reads again. what is said while it takes. */
  const act = useCallback(async (what: string, f: (say: (words: string) => void) => Promise<unknown>): Promise<boolean> => {
    if (acting.current) return false;
    acting.current = true;
    setBusy(what);
    const done = await tried(() => f(setBusy));
    await read();
    acting.current = false;
    setBusy("");
    return done;
  }, [read]);

  return { status, failure, reading, read, busy, act, file: file.path === path ? file : null };
}

/** Rejections that can still be put back, the last one at the end. */
export function useRejected(channelId: ChannelID, act: ReturnType<typeof useReview>["act"]) {
  const rejected = useRef<string[]>([]);
  const undo = useCallback(async (id = rejected.current.at(-1)) => {
    if (!id) return;
    let asked = false; // while something else is done it is not
    const done = await act("Putting back", () => {
      asked = true;
      return session().api.review.undo(channelId, id);
    });
    if (asked) rejected.current = afterUndo(rejected.current, id, done);
    if (done) toast("Put back.");
  }, [act, channelId]);
  const reject = useCallback(async (path: string, hunk: string) => {
    await act("Rejecting", async () => {
      const { id, doubt = null } = await session().api.review.reject(channelId, path, [hunk]);
      rejected.current.push(id);
      toast(doubt?.cause ?? "Taken out of the file.", doubt, { name: "Undo", run: () => void undo(id) });
    });
  }, [act, channelId, undo]);
  return { reject, undo };
}
