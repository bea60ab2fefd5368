import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { BackDiff, ChannelID, Failure, RewindPreview, RunID } from "../../api/types";
import { useNews } from "../../dock/useNews";
import { session } from "../../session/session";

const NEWS_MS = 2000; // what several acts of an agent changed is looked at once
const CHANGED = new Set(["tool.result", "agent.status", "rewind.went", "rewind.undone"]);

type Said = { run: RunID; p: RewindPreview | null; failure: Failure | null };

/** What going back to before a run would do, looked at again when an agent has done something. */
export function usePreview(channelId: ChannelID, run: RunID, visit: number, panel: RefObject<HTMLElement | null>) {
  const [said, setSaid] = useState<Said>({ run: "", p: null, failure: null });
  const asked = useRef(0);
  const look = useCallback(async () => {
    const n = ++asked.current;
    try {
      const p = await session().api.rewind.preview(run);
      if (n === asked.current) setSaid({ run, p, failure: null });
    } catch (err) {
      if (n === asked.current) setSaid({ run, p: null, failure: toFailure(err) });
    }
  }, [run]);
  useEffect(() => {
    if (run) void look();
  }, [look, run, visit]);
  const news = useCallback(() => {
    if (run) void look();
  }, [look, run]);
  useNews(channelId, panel, CHANGED, NEWS_MS, news);
  const mine = said.run === run ? said : null;
  return { p: mine?.p ?? null, failure: mine?.failure ?? null, look };
}

/** The difference of one file; null until it is there. */
export function useBackDiff(run: RunID, path: string, mark: string): BackDiff | null {
  const [said, setSaid] = useState<{ key: string; d: BackDiff | null }>({ key: "", d: null });
  const key = path && `${run}\n${mark}\n${path}`;
  useEffect(() => {
    let over = false;
    if (!key) return;
    session().api.rewind.diff(run, path).then((d) => !over && setSaid({ key, d }), (err: unknown) => !over && setSaid({ key, d: { patch: "", own: [], why: toFailure(err).cause } }));
    return () => {
      over = true;
    };
  }, [run, path, key]);
  return said.key === key ? said.d : null;
}
