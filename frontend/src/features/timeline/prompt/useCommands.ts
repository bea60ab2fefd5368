import type { KeyboardEvent, RefObject } from "react";
import { useEffect, useId, useState } from "react";
import { toFailure } from "../../../api/failure";
import type { ChannelID, SlashCommand } from "../../../api/types";
import type { CommandGroup } from "../../../model/commands";
import { commandAt, matchCommands, withCommand } from "../../../model/commands";
import { listKey } from "../../../model/listkeys";
import { session } from "../../../session/session";

type Known = { of: ChannelID; commands: SlashCommand[]; left: string };

export interface Commands {
  id: string; // of the list; an option's has its number behind it
  groups: CommandGroup[];
  total: number;
  known: boolean; // the list is here
  left: string;
  active: number;
  choose(i: number): void;
  point(i: number): void;
}

/** The command that a prompt is being begun with, and what it could be. The list is asked for once each time it opens. send: what Enter does without a list. */
export function useCommands(channelId: ChannelID, box: RefObject<HTMLTextAreaElement | null>, text: string, caret: number, change: (text: string) => void, send: () => void) {
  const id = useId();
  const [last, setKnown] = useState<Known | null>(null);
  const known = last?.of === channelId ? last : null;
  const [wish, setWish] = useState<{ query: string; enter: boolean } | null>(null); // the key that came before the list
  const [closed, setClosed] = useState(false); // the person closed the list of this word
  const [at, setAt] = useState<{ query: string; i: number } | null>(null); // the option that the person went to
  const query = caret < 0 ? null : commandAt(text, caret);
  const begun = query !== null;
  const open = begun && !closed;

  useEffect(() => {
    if (!begun) {
      setClosed(false);
      return;
    }
    let here = true;
    session().api.files.commands(channelId).then(
      (c) => here && setKnown({ of: channelId, commands: c.commands ?? [], left: c.left ?? "" }),
      (e: unknown) => here && setKnown({ of: channelId, commands: [], left: `${toFailure(e).cause} ${toFailure(e).remedy}` }),
    );
    return () => { here = false; };
  }, [channelId, begun]);

  const { groups, best, total } = matchCommands(known?.commands ?? [], query ?? "");
  const flat = groups.flatMap((g) => g.matches);
  const active = at && at.query === query ? Math.min(at.i, Math.max(0, flat.length - 1)) : best;
  const point = (i: number) => setAt({ query: query ?? "", i });

  function choose(i: number) {
    const name = flat[i]?.command.name;
    if (name === undefined) return;
    const next = withCommand(text, name);
    change(next.text);
    setClosed(true);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.caret, next.caret);
    });
  }

  const written = flat[active]?.command.name === query;
  useEffect(() => setWish(null), [query, open]); // it was for other letters
  useEffect(() => {
    if (!wish || !known) return;
    setWish(null);
    if (!open || query !== wish.query) return;
    if (wish.enter && written) send();
    else choose(active);
  }, [known]); // eslint-disable-line react-hooks/exhaustive-deps -- only the list is waited for

  /** Takes the keys that are the list's. Enter on a command that is written out sends it. */
  function onKey(e: KeyboardEvent): boolean {
    if (!open || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return false;
    const n = flat.length;
    const does = listKey(e.key, n, known !== null);
    if (does === "none" || (does === "take" && e.key === "Enter" && written)) return false;
    if (does === "close") setClosed(true);
    else if (does === "next") point((active + 1) % n);
    else if (does === "previous") point((active + n - 1) % n);
    else if (does === "take") choose(active);
    else setWish({ query, enter: e.key === "Enter" });
    e.preventDefault();
    e.stopPropagation();
    return true;
  }

  const commands: Commands | null = open ? { id, groups, total, known: known !== null, left: known?.left ?? "", active, choose, point } : null;
  return { commands, onKey };
}
