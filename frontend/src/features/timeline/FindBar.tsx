import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { countWords, findStore } from "../../model/find";
import { focusPrompt } from "../../session/actions";
import { closeFindBar, openFind, search, step } from "../../session/find";
import { Button, IconButton } from "../../ui/Button";
import { composing } from "../../ui/keys";
import "../../ui/searchbar.css";
import "./findbar.css";

/** Finds in one channel's timeline, newest first: Enter goes on to earlier hits, with Shift to later ones. */
export function FindBar({ channelId }: { channelId: ChannelID }) {
  const find = useStore(findStore);
  const field = useRef<HTMLInputElement>(null);
  const open = find.bar > 0 && find.channel === channelId;
  useLayoutEffect(() => { // before the next key
    if (!open) return;
    field.current?.focus();
    field.current?.select();
  }, [open, find.bar]);
  useEffect(() => () => {
    if (findStore.getState().bar > 0) closeFindBar(); // another channel is shown
  }, [channelId]);
  if (!open) return null;
  const none = find.found.length === 0;
  const close = () => {
    closeFindBar();
    const row = document.querySelector<HTMLElement>("[data-region=timeline] article[tabindex='0']");
    if (row && find.at >= 0) row.focus({ preventScroll: true });
    else focusPrompt();
  };
  return (
    <div className="searchbar" role="search" aria-label="Find in the timeline" onKeyDown={(e) => {
      if (composing(e)) return;
      if (e.key === "Escape") close();
      else if (e.key === "Enter" && e.target === field.current) step(e.shiftKey ? -1 : 1);
      else return;
      e.preventDefault();
      e.stopPropagation();
    }}>
      <input ref={field} className="field" aria-label="Find in the timeline" placeholder="Find in the timeline" value={find.words} spellCheck={false} maxLength={300} onChange={(e) => search(e.target.value, channelId)} />
      <span className={`tnum searchbar-count ${find.phase === "error" ? "fail" : ""}`} role="status">{countWords(find)}</span>
      <IconButton small name="Earlier" keys="Enter" disabled={none} onClick={() => step(1)}><ChevronUp size={14} aria-hidden /></IconButton>
      <IconButton small name="Later" keys="Shift Enter" disabled={none} onClick={() => step(-1)}><ChevronDown size={14} aria-hidden /></IconButton>
      <Button look="small" onClick={() => openFind(find.words)}>Everywhere</Button>
      <IconButton small name="Close the search" keys="Esc" onClick={close}><X size={14} aria-hidden /></IconButton>
    </div>
  );
}
