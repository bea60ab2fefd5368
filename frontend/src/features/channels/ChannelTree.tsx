import { ChevronRight, Folder, FolderOpen, GitBranch, MessageSquare } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelView } from "../../api/types";
import type { ChannelRow } from "../../model/frame";
import { channelRows } from "../../model/frame";
import { seenStore, viewStore } from "../../model/stores";
import { unseenOf } from "../../model/seen";
import { visible } from "../../model/text";
import { StateWord } from "../../ui/StateWord";
import { meaning } from "../../ui/keys";
import { isTypeAheadKey, useTypeAhead } from "../../ui/useTypeAhead";
import { openDialog, openFolder, select } from "../../session/actions";
import { useChannels } from "../../session/useChannels";
import { ChannelMenu } from "./ChannelMenu";

export function ChannelTree() {
  const channels = useChannels();
  const selected = useStore(viewStore, (v) => v.selected);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const seen = useStore(seenStore, (s) => s.seen);
  const rows = useMemo(() => channelRows(channels, closed), [channels, closed]);
  const news = useMemo(() => unseenOf(channels, seen), [channels, seen]);
  const at = Math.max(0, rows.findIndex((r) => r.channel.channel_id === (focused || selected)));
  const typeAhead = useTypeAhead(rows.map((r) => r.channel.name), at);

  function go(i: number) {
    const row = rows[i];
    if (!row) return;
    setFocused(row.channel.channel_id);
    list.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[i]?.focus();
  }

  // A removed row leaves the focus to the row that takes its place.
  const inside = useRef(false);
  useLayoutEffect(() => {
    if (inside.current && (document.activeElement ?? document.body) === document.body) list.current?.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus();
  }, [rows]);

  function fold(row: ChannelRow, shut: boolean) {
    const next = new Set(closed);
    if (shut) next.add(row.channel.channel_id);
    else next.delete(row.channel.channel_id);
    setClosed(next);
  }

  function onKey(e: KeyboardEvent) {
    const row = rows[at];
    if (row && (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey))) {
      e.preventDefault();
      e.currentTarget.querySelectorAll(".row")[at]?.dispatchEvent(new Event("contextmenu"));
      return;
    }
    if (!row) return;
    const id = row.channel.channel_id;
    const act: Record<string, () => void> = {
      ArrowDown: () => go(Math.min(rows.length - 1, at + 1)),
      ArrowUp: () => go(Math.max(0, at - 1)),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      Enter: () => select(id),
      " ": () => select(id),
      "tree.rename": () => openDialog("rename", id),
      "tree.remove": () => openDialog("remove", id),
      ArrowRight: () => (row.folded ? fold(row, false) : go(Math.min(rows.length - 1, at + 1))),
      ArrowLeft: () => {
        if (row.hasChildren && !row.folded) fold(row, true);
        else go(rows.findIndex((r) => r.channel.channel_id === row.channel.parent_id));
      },
    };
    const f = act[meaning("tree", e)];
    if (f) f();
    else if (isTypeAheadKey(e)) {
      const found = typeAhead(e.key);
      if (found < 0) return;
      go(found);
    } else return;
    e.preventDefault();
  }

  if (rows.length === 0) {
    return (
      <div className="side-empty">
        <p>No projects yet</p>
        <button type="button" className="link" onClick={() => void openFolder()}>
          Open a folder
        </button>
      </div>
    );
  }
  return (
    <ul className="side-list" role="tree" aria-label="Projects" ref={list} onKeyDown={onKey}
      onFocus={() => (inside.current = true)} onBlur={() => (inside.current = false)}>
      {rows.map((row, i) => (
        <TreeRow key={row.channel.channel_id} row={row} selected={row.channel.channel_id === selected} news={row.speaksFor.some((id) => news.has(id))} tabbable={i === at}
          onFocus={() => setFocused(row.channel.channel_id)} onFold={() => fold(row, !row.folded)} />
      ))}
    </ul>
  );
}

type RowProps = { row: ChannelRow; selected: boolean; news: boolean; tabbable: boolean; onFocus(): void; onFold(): void };

function TreeRow({ row, selected, news, tabbable, onFocus, onFold }: RowProps) {
  const { channel: c, depth, hasChildren, folded } = row;
  const name = visible(c.name);
  return (
    <li className={`row ${selected ? "selected" : ""} ${depth === 0 ? "root" : ""} ${news ? "row-news" : ""}`} role="none">
      <div
        role="treeitem"
        className="row-main"
        tabIndex={tabbable ? 0 : -1}
        aria-selected={selected}
        aria-level={depth + 1}
        aria-expanded={hasChildren ? !folded : undefined}
        title={c.dir}
        style={{ paddingLeft: 10 + depth * 18 }}
        onFocus={onFocus}
        onClick={() => select(c.channel_id)}
      >
        {hasChildren && (
          <ChevronRight size={12} className={`twist ${folded ? "" : "open"}`} aria-hidden onClick={(e) => { e.stopPropagation(); onFold(); }} />
        )}
        <KindIcon channel={c} selected={selected} />
        <span className="row-name ellipsis">{name}</span>
        <StateWord state={row.state} driven={row.driven} count={row.count} queued={row.queued} {...(row.since ? { since: row.since } : {})} />
        {news && <span className="row-dot"><span className="sr-only">new</span></span>}
      </div>
      <ChannelMenu channel={c} inTree />
    </li>
  );
}

function KindIcon({ channel, selected }: { channel: ChannelView; selected: boolean }) {
  if (channel.kind === "thread") return <MessageSquare size={14} aria-hidden />;
  if (channel.kind === "worktree") return <GitBranch size={14} aria-hidden />;
  return selected ? <FolderOpen size={14} aria-hidden /> : <Folder size={14} aria-hidden />;
}
