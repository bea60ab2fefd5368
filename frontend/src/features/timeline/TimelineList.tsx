import { useVirtualizer, defaultRangeExtractor } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import type { CSSProperties, KeyboardEvent, MouseEvent } from "react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { fileOf } from "../../model/fileplace";
import { foundRowStore } from "../../model/find";
import { frameStore, outboxStore, timelineOf, timelinesStore, toast } from "../../model/stores";
import { footageStore } from "../../model/footage";
import { clockWords, startOf } from "../../model/playback/lanes";
import { itemAt, momentStore } from "../../model/playback/store";
import { isBrowserTool } from "../../model/timeline/browsertools";
import type { Item } from "../../model/timeline/items";
import type { Filter } from "../../model/timeline/filter";
import { passes } from "../../model/timeline/filter";
import { activeRun, shownItems } from "../../model/timeline/state";
import { Button } from "../../ui/Button";
import { ErrorBoundary } from "../../ui/ErrorBoundary";
import { forkFrom } from "../../session/branches";
import { copyRowLink } from "../../session/rowlink";
import { NOT_SHOWN, reveal } from "../../session/gate";
import { openFile, openInEditor } from "../../session/openfile";
import { leavingRows, leavingStore, withoutLeft } from "../../model/rewind";
import { goBackTo } from "../../session/rewind";
import { LeavesLine } from "./rows/RewoundRow";
import { openReview } from "../../session/review";
import { session } from "../../session/session";
import { useReads } from "./useReads";
import { useReveal } from "./useReveal";
import { useRetrySaid } from "./useRetrySaid";
import { StickyPrompt } from "./StickyPrompt";
import { useSticky } from "./useSticky";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import { itemText, itemLabel } from "./itemText";
import { isFoldable } from "../../model/timeline/fold";
import { isTalk, nestAll } from "../../model/timeline/talks";
import { Row } from "./rows/Row";
import "./rows/rail.css";
import { Tail } from "./Tail";
import { openFrame } from "./openframe";
import { useFoundMarks } from "./useFoundMarks";
import { useFollow } from "./useFollow";
import { meaning, typesInto } from "../../ui/keys";

const STICKY_PX = 34; // height of the prompt that sticks
const DEEPEST = 4; // sub-agents of sub-agents hang no deeper
const OLDER_AT_PX = 600; // older pages are loaded when the top is as near as this

type Props = { channelId: ChannelID; filter: Filter; onClearFilter(): void };

export function TimelineList({ channelId, filter, onClearFilter }: Props) {
  const t = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const dir = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId)?.dir ?? "");
  const [open, setOpen] = useState<Record<string, boolean>>({});
  const stays = useMemo(() => withoutLeft(shownItems(t), (key) => Boolean(open[key])), [t, open]);
  const passed = useMemo(() => stays.items.filter((it) => passes(it, filter)), [stays, filter]);
  const run = useMemo(() => activeRun(t), [t]);
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState("");
  const nested = useMemo(() => nestAll(passed, (key) => Boolean(open[key]), filter === "all" || filter === "messages"), [passed, open, filter]);
  const { rows: items, inside, settle } = useReads(nested.rows, open, current);
  const found = items.findIndex((it) => it.key === current);
  const at = found >= 0 ? found : items.length - 1;

  const virt = useVirtualizer({
    count: items.length + 1, // the last row is the tail
    getScrollElement: () => scroller.current,
    getItemKey: (i) => items[i]?.key ?? "tail",
    estimateSize: (i) => estimate(items[i]),
    overscan: 10,
    anchorTo: "end", // older pages come in above without moving the visible rows
    scrollEndThreshold: -1, // useFollow below follows the end instead
    paddingStart: 20,
    scrollPaddingStart: STICKY_PX, // a row that is gone to is not below the prompt that sticks
    paddingEnd: 12,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const r = defaultRangeExtractor(range);
        return at < 0 || r.includes(at) ? r : [...r, at].sort((a, b) => a - b); // the focused row stays mounted
      },
      [at],
    ),
  });
  const total = virt.getTotalSize();
  const { following, behind, onScroll, follow, pause } = useFollow(scroller, total, items.length);
  useEffect(() => settle(following), [settle, following]);

  const { prompt: stuck, index: stuckAt, look } = useSticky(items, virt);
  useLayoutEffect(look, [look, total]);
  useRetrySaid(t.built, run?.runId);

  const unfilter = (key: string, enter: boolean) => {
    if (filter === "all") return toast(NOT_SHOWN);
    onClearFilter();
    reveal(key, enter);
  };
  const unfold = (key: string) => {
    pause();
    setOpen((o) => ({ ...o, [key]: true }));
  };
  useReveal({
    items, hidden: [nested.hidden, stays.hidden], ready: t.phase === "ready", isOpen: (key) => Boolean(open[key]),
    known: (key) => t.built.items.some((it) => it.key === key), aside: unfilter, open: unfold,
    show(index, key) {
      pause();
      setCurrent(key);
      const row = items[index];
      if ((row && isFoldable(row) && foundRowStore.getState().key === key) || nested.hidden.has(key)) unfold(key);
      virt.scrollToIndex(index, { align: "auto" });
    },
  }, scroller);

  useFoundMarks(channelId, scroller);
  const leaving = useStore(leavingStore, (all) => all[channelId]);
  const leaves = useMemo(() => leavingRows(items, leaving?.run), [items, leaving]);
  const leaveClass = (it: Item) => (leaves.has(it.key) || stays.gone.has(it.key) ? "rewound-leaving" : leaving?.run === it.runId && it.kind === "prompt" ? "rewound-target" : "");
  const firstLeaving = leaving?.words ? (items.find((it) => leaves.has(it.key))?.key ?? "") : "";

  // While a run is played back, the row of its moment is in sight.
  const moment = useStore(momentStore, (all) => all[channelId]);
  const played = useMemo(() => itemAt(items, moment), [items, moment]);
  const playedKey = items[played]?.key ?? "";
  useEffect(() => {
    if (!playedKey) return;
    pause();
    virt.scrollToIndex(items.findIndex((it) => it.key === playedKey), { align: "auto" });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another moment moves the list
  }, [playedKey, pause]);

  // After sending a prompt the person wants to see it.
  const sent = useStore(outboxStore, (o) => o.letters.findLast((l) => l.channelId === channelId)?.clientId ?? "");
  useEffect(() => {
    if (sent) follow();
  }, [sent, follow]);

  const hasMore = t.hasMore && !t.loadingOlder && !t.olderFailure;
  const older = useCallback(() => {
    const el = scroller.current;
    if (el && hasMore && el.scrollTop < OLDER_AT_PX) void session().loadOlder(channelId);
  }, [hasMore, channelId]);
  useLayoutEffect(older, [older, total]);

  const toggle = useCallback(
    (key: string) => {
      pause();
      setCurrent(key);
      setOpen((o) => ({ ...o, [key]: !o[key] }));
    },
    [pause],
  );

  function go(i: number) {
    const it = items[Math.max(0, Math.min(items.length - 1, i))];
    if (!it) return;
    setCurrent(it.key);
    const index = items.indexOf(it);
    if (index === items.length - 1) follow();
    else {
      pause();
      virt.scrollToIndex(index, { align: "auto" });
    }
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] > article`)?.focus({ preventScroll: true }));
  }

  function onKey(e: KeyboardEvent) {
    const it = items[at];
    if (!it || typesInto(e)) return;
    const key = meaning("timeline", e);
    const onItem = (e.target as HTMLElement).tagName === "ARTICLE";
    if (!onItem && !(key === "timeline.next" || key === "timeline.previous")) return;
    const act: Record<string, () => void> = {
      "timeline.next": () => go(at + 1), ArrowDown: () => go(at + 1), "timeline.previous": () => go(at - 1), ArrowUp: () => go(at - 1),
      Home: () => go(0), End: () => go(items.length - 1),
      Enter: () => openPicture(it) || (isFoldable(it) && toggle(it.key)),
      " ": () => isFoldable(it) && toggle(it.key),
      ArrowRight: () => isFoldable(it) && !open[it.key] && toggle(it.key),
      ArrowLeft: () => (isFoldable(it) && open[it.key] ? toggle(it.key) : go(parentAt(items, it, at))),
      "timeline.back": () => it.kind === "prompt" && !isTalk(it.runId) && goBackTo(channelId, it.runId),
      "timeline.all-lines": () => (e.target as HTMLElement).querySelector<HTMLElement>("[data-more]")?.click(),
      "timeline.link": () => void copyRowLink(items, it),
      "timeline.file": () => {
        const file = fileOf(it);
        if (file) void openFile(channelId, file);
        else toast("This item names no file.");
      },
      "timeline.edit": () => {
        const file = fileOf(it);
        if (file) void openInEditor(channelId, file);
        else toast("This item names no file.");
      },
      "timeline.review": () => it.kind === "end" && openReview(channelId, it.runId),
      "timeline.fork": () => it.kind === "text" && it.uuid && !isTalk(it.runId) && void forkFrom(it.uuid),
      "timeline.copy": () => void copyText(itemText(it)).then((ok) => toast(ok ? "Copied." : NOT_COPIED)),
    };
    const f = act[key];
    if (!f) return;
    e.preventDefault();
    f();
  }

  // The pressed row of hidden lines goes away, so the item keeps the keyboard, and what is read its place.
  function onMore(e: MouseEvent) {
    const more = (e.target as HTMLElement).closest("[data-more]");
    if (!more) return;
    pause();
    more.closest("article")?.focus({ preventScroll: true });
  }

  return (
    <>
      {stuck && <StickyPrompt item={stuck} onGo={() => go(stuckAt)} />}
      <div className="scroller" ref={scroller} onScroll={() => { onScroll(); older(); look(); }} onKeyDown={onKey} onClickCapture={onMore} data-region="timeline" data-following={following}>
        <div role="feed" aria-label="Timeline items" aria-busy={t.loadingOlder || Boolean(run)} className="sizer" style={{ height: total }}>
          {virt.getVirtualItems().map((v) => {
            const it = items[v.index];
            const deep = it ? nested.depthOf(it) : 0;
            const next = items[v.index + 1];
            const rail = deep > 0 ? `rail ${next && nested.depthOf(next) >= deep ? "" : "rail-end"}` : "";
            return (
              <div key={v.key} data-index={v.index} ref={virt.measureElement} className="slot" style={{ transform: `translateY(${v.start}px)` }}>
                {it && it.key === firstLeaving && <LeavesLine words={leaving?.words ?? ""} />}
                {it ? (
                  <article className={`item column ${it.kind} ${leaveClass(it)} ${moment?.run === it.runId ? "played" : ""} ${v.index === played ? "moment" : ""} ${inside.has(it.key) ? "inside" : ""} ${rail}`} style={deep > 0 ? railStyle(deep) : undefined} tabIndex={v.index === at ? 0 : -1} aria-current={v.index === played ? "time" : undefined} aria-posinset={v.index + 1} aria-setsize={t.hasMore ? -1 : items.length}
                    aria-label={itemLabel(it)} onFocus={(e) => (e.target === e.currentTarget || it.kind === "gate") && setCurrent(it.key)}>
                    <ErrorBoundary what="Item">
                      <Row item={it} dir={dir} open={Boolean(open[it.key])} onToggle={toggle} run={t.built.runs[it.runId]} />
                    </ErrorBoundary>
                    {moment?.run === it.runId && hasGutter(it) && <span className="gutter run-time tnum" title="Since the run began">{clockWords(Math.max(0, startOf(it) - moment.began))}</span>}
                  </article>
                ) : (
                  <Tail channelId={channelId} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {t.loadingOlder && <p className="older" role="status">Loading earlier items</p>}
      {t.olderFailure && (
        <p className="older">
          {t.olderFailure.cause} <button type="button" className="link" onClick={() => void session().loadOlder(channelId)}>Load again</button>
        </p>
      )}
      {filter !== "all" && items.length === 0 && (
        <p className="older">
          No loaded item is of this kind. <button type="button" className="link" onClick={onClearFilter}>Show everything</button>
        </p>
      )}
      {!following && (
        <div className="jump">
          <Button look="small" onClick={follow}>
            <ArrowDown size={13} aria-hidden />
            {behind > 0 ? `${behind} new` : run ? "Follow" : "Newest"}
            <span className="sr-only">: jump to the newest item</span>
          </Button>
        </div>
      )}
    </>
  );
}

/** Opens the picture of a call of the browser's tools, if there is one. */
function openPicture(it: Item): boolean {
  const frame = it.kind === "tool" ? footageStore.getState()[it.runId]?.calls[it.useId] : undefined;
  if (frame) openFrame(it.runId, frame.frame_id);
  return Boolean(frame);
}

const railStyle = (deep: number) => ({ "--rail": Math.min(deep, DEEPEST) }) as CSSProperties;

/** The row that a sub-agent's row hangs below; the row itself where it hangs below none. */
function parentAt(items: readonly Item[], it: Item, at: number): number {
  if (isTalk(it.runId) && !("parentId" in it && it.parentId)) return Math.max(0, items.findLastIndex((x, i) => i <= at && x.kind === "talk"));
  const parent = it.kind === "tool" || it.kind === "activity" || it.kind === "reads" ? it.parentId : "";
  const i = parent ? items.findIndex((x) => x.kind === "tool" && x.useId === parent && x.runId === it.runId) : -1;
  return i >= 0 ? i : at;
}

/** A card that waits for an answer takes the whole width. */
const hasGutter = (it: Item): boolean => it.kind !== "gate" || it.approval.state !== "waiting";

function estimate(it: Item | undefined): number {
  switch (it?.kind) {
    case "tool":
      return isBrowserTool(it.name) ? 62 : 30;
    case "prompt":
      return 78;
    case "text":
      return 96;
    case "end":
      return 56;
    case "gate":
      return 60;
    default:
      return 30;
  }
}
