import type { KeyboardEvent, RefObject } from "react";
import { useEffect, useId, useState } from "react";
import type { FileMatch, FileMatches } from "../../../api/contract.gen";
import { toFailure } from "../../../api/failure";
import type { ChannelID, Failure } from "../../../api/types";
import { listKey } from "../../../model/listkeys";
import { linesOf, mentionAt, withMention } from "../../../model/mention";
import type { Recent } from "../../../model/recents";
import { openedStore, recentFiles } from "../../../model/recents";
import { frameStore, timelineOf, timelinesStore } from "../../../model/stores";
import { session } from "../../../session/session";

const MOST = 20;

interface Found extends FileMatches {
  files: FileMatch[];
}

export interface Mention {
  id: string; // of the list; an option's has its number behind it
  from: number; // of the @
  query: string;
  found: Found | null; // null: not yet
  recent: Recent[];
  fault: string;
  active: number;
  choose(i: number, enter?: boolean): void;
  point(i: number): void;
}

/** The recent files of a channel, read when a list of files opens. */
function recentsOf(id: ChannelID): Recent[] {
  const dir = frameStore.getState().channels.find((c) => c.channel_id === id)?.dir ?? "";
  return recentFiles(timelineOf(timelinesStore.getState(), id).built, openedStore.getState()[id] ?? [], dir, Date.now());
}

const sentence = (f: Failure) => `${f.cause} ${f.remedy}`;

/** The file that is being named in a prompt box, with what it could be. */
export function useMention(channelId: ChannelID, box: RefObject<HTMLTextAreaElement | null>, text: string, change: (text: string) => void) {
  const id = useId();
  const [caret, setCaret] = useState(-1); // -1: the box is not in use
  const [left, setLeft] = useState(-1); // the @ whose list the person closed
  const [found, setFound] = useState<Found | null>(null);
  const [asked, setAsked] = useState<string | null>(null); // what found or the fault is the answer to
  const [wish, setWish] = useState<{ query: string; enter: boolean } | null>(null); // the key that came before its list
  const [fault, setFault] = useState("");
  const [active, setActive] = useState(0);
  const typed = caret < 0 ? null : mentionAt(text, caret);
  const open = typed !== null && typed.from !== left;
  const { query: letters, lines } = linesOf(open ? typed.query : "");
  const query = open ? letters : null;
  const [recent, setRecent] = useState<Recent[]>([]);
  useEffect(() => (open ? setRecent(recentsOf(channelId)) : undefined), [channelId, open]);

  useEffect(() => {
    setWish(null); // it was for other letters
    if (query === null) {
      setFound(null);
      setAsked(null);
      setFault("");
      return;
    }
    let current = true;
    const answer = (f: Found | null, why: string) => {
      if (!current) return; // a later letter was typed
      setFound(f);
      setAsked(query);
      setFault(why);
      setActive(0);
    };
    const first = recentsOf(channelId).map((r) => r.path);
    session().api.files.find(channelId, query, MOST, first).then((f) => answer({ ...f, files: f.files ?? [] }, ""), (e: unknown) => answer(null, sentence(toFailure(e))));
    return () => { current = false; };
  }, [channelId, query]);

  function choose(i: number, enter = false) {
    const path = found?.files[i]?.path;
    if (!typed || path === undefined) return;
    const folder = path.endsWith("/");
    const next = withMention(text, typed, caret, path, enter && folder, folder ? "" : lines);
    change(next.text);
    setCaret(next.caret);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.caret, next.caret);
    });
  }

  useEffect(() => {
    if (!wish || asked !== wish.query) return;
    setWish(null);
    if (query === wish.query) choose(0, wish.enter);
  }, [asked]); // eslint-disable-line react-hooks/exhaustive-deps -- only an answer brings the list that was wished for

  /** Takes the keys that are the list's. */
  function onKey(e: KeyboardEvent): boolean {
    if (!open || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return false;
    const count = found?.files.length ?? 0;
    const does = listKey(e.key, count, asked === letters);
    if (does === "none") return false;
    if (does === "close") setLeft(typed.from);
    else if (does === "next") setActive((active + 1) % count);
    else if (does === "previous") setActive((active + count - 1) % count);
    else if (does === "take") choose(active, e.key === "Tab");
    else setWish({ query: letters, enter: e.key === "Tab" });
    e.preventDefault();
    e.stopPropagation();
    return true;
  }

  function look() {
    const el = box.current;
    const at = el && document.activeElement === el && el.selectionStart === el.selectionEnd ? el.selectionStart : -1;
    setCaret(at);
    if (at < 0 || mentionAt(el?.value ?? "", at)?.from !== left) setLeft(-1);
  }

  const mention: Mention | null = open ? { id, from: typed.from, query: letters, found, recent, fault, active, choose, point: setActive } : null;
  return { mention, onKey, look, leave: () => setCaret(-1), caret };
}
