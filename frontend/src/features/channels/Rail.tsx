import { LayoutGrid, PanelLeftOpen } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useState } from "react";
import { useStore } from "zustand";
import { channelRows } from "../../model/frame";
import { seenStore, viewStore } from "../../model/stores";
import { unseenOf } from "../../model/seen";
import { visible } from "../../model/text";
import { select, toggleSidebar } from "../../session/actions";
import { openDesk } from "../../session/desk";
import { useChannels } from "../../session/useChannels";
import { useKeyText } from "../../ui/keys";
import { StateIcon, stateWord } from "../../ui/StateWord";
import "./states.css";

/** The sidebar where it is narrow: the states of all channels. */
export function Rail({ covered }: { covered: boolean }) {
  const channels = useChannels();
  const selected = useStore(viewStore, (v) => v.selected);
  const desk = useStore(viewStore, (v) => !v.selected && v.page === "desk");
  const seen = useStore(seenStore, (s) => s.seen);
  const rows = useMemo(() => channelRows(channels), [channels]);
  const news = useMemo(() => unseenOf(channels, seen), [channels, seen]);
  const key = useKeyText();
  const [again, fold] = [key("page.next-waiting"), key("page.sidebar")];
  const [focused, setFocused] = useState("desk");
  const ids = ["desk", ...rows.map((r) => r.channel.channel_id), "show"];
  const at = Math.max(0, ids.indexOf(focused));

  function onKeyDown(e: KeyboardEvent<HTMLElement>) {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: ids.length - 1 }[e.key];
    if (to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const id = ids[Math.max(0, Math.min(ids.length - 1, to))] ?? "";
    setFocused(id);
    e.currentTarget.querySelector<HTMLElement>(`[data-rail="${id}"]`)?.focus();
  }
  const stop = (id: string) => ({ "data-rail": id, tabIndex: ids[at] === id ? 0 : -1, onFocus: () => setFocused(id) });
  return (
    <nav className="states" aria-label="States of channels" data-region="sidebar" inert={covered}>
      <div className="states-list" role="toolbar" aria-orientation="vertical" aria-label="Channels" onKeyDown={onKeyDown}>
        <button type="button" className={`states-item ${desk ? "states-here" : ""}`} aria-label="Desk" title={again ? `Desk (${again} ${again})` : "Desk"} aria-current={desk ? "page" : undefined} onClick={openDesk} {...stop("desk")}><LayoutGrid size={15} aria-hidden /></button>
        {rows.map(({ channel: c, depth, state, driven }) => {
          const name = visible(c.name);
          const word = driven ? "you drive" : stateWord(state);
          const isNew = news.has(c.channel_id);
          return (
            <span key={c.channel_id} className="states-row">
              {depth === 0 && <span className="states-name" aria-hidden>{[...name.trim()].slice(0, 2).join("").toLowerCase()}</span>}
              <button type="button" className={`states-item ${c.channel_id === selected ? "states-here" : ""}`} aria-label={`${name}, ${word}${isNew ? ", new" : ""}`} title={`${name}: ${word}`} aria-current={c.channel_id === selected ? "page" : undefined}
                onClick={() => select(c.channel_id)} {...stop(c.channel_id)}>
                <span className={`state ${state}`}><StateIcon state={state} /></span>
                {isNew && <span className="row-dot states-dot" />}
              </button>
            </span>
          );
        })}
        <span className="grow" />
        <button type="button" className="states-item" data-sidebar aria-label="Show the sidebar" title={fold ? `Show the sidebar (${fold})` : "Show the sidebar"} onClick={toggleSidebar} {...stop("show")}><PanelLeftOpen size={15} aria-hidden /></button>
      </div>
    </nav>
  );
}
