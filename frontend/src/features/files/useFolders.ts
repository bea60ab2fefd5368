import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID } from "../../api/types";
import { useNews } from "../../dock/useNews";
import type { Folder, Folders } from "../../model/file-tree";
import { session } from "../../session/session";

const NEWS_MS = 1500; // files that several acts of an agent changed are read at once
const CHANGED = new Set(["tool.result", "messages.processed", "container.status_changed"]);

/**
 * The folders of a channel's container that were asked for, read again when an agent has done
 * something. One that was read stays in sight until it is read again.
 */
export function useFolders(channelId: ChannelID, panel: RefObject<HTMLElement | null>) {
  const [folders, setFolders] = useState<Folders>(new Map());
  const [reading, setReading] = useState(0);
  const known = useRef(new Set<string>());
  const asked = useRef(new Map<string, number>()); // how often each was: an answer to an earlier question is not shown
  const round = useRef(0);

  const put = useCallback((path: string, f: Folder) => {
    known.current.add(path);
    setFolders((m) => new Map(m).set(path, f));
  }, []);

  /** Reads a folder, "" for the one in which agents work, and returns its path; "" if it could not be read. */
  const read = useCallback(async (path: string): Promise<string> => {
    setReading((n) => n + 1);
    const mine = (asked.current.get(path) ?? 0) + 1;
    asked.current.set(path, mine);
    const latest = () => asked.current.get(path) === mine;
    try {
      const listing = await session().api.files.list(channelId, path);
      if (latest()) put(path || listing.path, { listing, failure: null });
      return path || listing.path;
    } catch (err) {
      if (latest()) put(path, { listing: null, failure: toFailure(err) });
      return path;
    } finally {
      setReading((n) => n - 1);
    }
  }, [channelId, put]);

  /** Reads all of them again, one after the other: each may be a program in the container. */
  const again = useCallback(async () => {
    const mine = ++round.current;
    for (const path of known.current) {
      if (mine !== round.current) return;
      await read(path);
    }
  }, [read]);

  const news = useCallback(() => void again(), [again]);
  useNews(channelId, panel, CHANGED, NEWS_MS, news);
  useEffect(() => () => void round.current++, []);

  return { folders, reading: reading > 0, read, again };
}
