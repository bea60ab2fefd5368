import type { RefObject } from "react";
import { useEffect, useRef } from "react";
import type { ChannelID } from "../../../api/types";
import { leavesText, rowsIn } from "../../../model/promptedge";
import { session } from "../../../session/session";

const HISTORY = 50; // prompts of this channel within reach of the arrow keys

function rowsOf(el: HTMLTextAreaElement): number {
  const { paddingTop, paddingBottom, lineHeight } = getComputedStyle(el);
  return rowsIn(el.scrollHeight - parseFloat(paddingTop) - parseFloat(paddingBottom), parseFloat(lineHeight));
}

/** The earlier prompts of a channel, through which the arrow keys go. */
export function useHistory(channelId: ChannelID, running: string, box: RefObject<HTMLTextAreaElement | null>, text: string, change: (text: string) => void) {
  // all: the newest prompts; list: those through which the keys go, which may be some that were found
  // shown: the prompt at that place, as it was put into the box
  const history = useRef<{ all: string[]; list: string[]; at: number; draft: string; shown: string }>({ all: [], list: [], at: -1, draft: "", shown: "" });

  useEffect(() => {
    session().api.channels.history(channelId, "", HISTORY).then(
      (list) => {
        const h = history.current;
        h.all = list ?? [];
        if (h.at === -1) h.list = h.all;
      },
      () => {}, // without a history the person can still type
    );
  }, [channelId, running]);

  function show(value: string, pos: number) {
    change(value);
    requestAnimationFrame(() => box.current?.setSelectionRange(pos, pos));
  }

  /** Goes to an earlier or later prompt. False: there is none. */
  function step(back: boolean, typed: string): boolean {
    const h = history.current;
    if (h.at !== -1 && typed !== h.shown) Object.assign(h, { at: -1, list: h.all }); // something was put into the box meanwhile
    const next = h.at + (back ? 1 : -1);
    if (next < -1 || next >= h.list.length) return false;
    if (h.at === -1) h.draft = typed;
    h.at = next;
    const value = next === -1 ? h.draft : (h.list[next] ?? "");
    if (next === -1) h.list = h.all;
    h.shown = value;
    show(value, back ? 0 : value.length);
    return true;
  }

  /** Goes to an earlier or later prompt, but only where the arrow key could not move the caret. True: the key is used. */
  function walk(back: boolean): boolean {
    const el = box.current;
    if (!el || el.selectionStart !== el.selectionEnd) return false;
    const at = el.selectionStart;
    const leaves = leavesText(text, at, back, rowsOf(el));
    if (leaves === "yes") return step(back, text);
    // The caret moves after this key is handled, unless it is in the outermost row.
    if (leaves === "look") requestAnimationFrame(() => box.current === el && el.value === text && el.selectionStart === at && el.selectionEnd === at && step(back, text));
    return false;
  }

  return {
    walk,
    /** The person types: what is in the box is no earlier prompt any more. */
    typed: () => void Object.assign(history.current, { at: -1, list: history.current.all }),
    /** The prompt in the box was sent. */
    sent() {
      const all = [text.trim(), ...history.current.all];
      history.current = { all, list: all, at: -1, draft: "", shown: "" };
    },
    /** Shows a prompt that was found. The arrow keys go on from there, and back to what was in the box. */
    take(found: string[], i: number) {
      const h = history.current;
      history.current = { ...h, list: found.slice(i), at: 0, draft: h.at === -1 ? text : h.draft, shown: found[i] ?? "" };
      show(found[i] ?? "", (found[i] ?? "").length);
    },
  };
}
