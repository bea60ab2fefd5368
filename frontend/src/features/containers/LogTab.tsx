import { ArrowDown, ArrowUp, Search } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { WatchedContainer } from "../../api/types";
import { found, MAX_LINES, pieces } from "../../model/container-log";
import { precise } from "../../model/clock";
import { visible } from "../../model/text";
import { saveFile } from "../../shell/save";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { useLog } from "./useWatch";

const NEAR_PX = 24; // from the end, which still counts as the end

/** The log of a container's first process. It follows until the person scrolls up. */
export function LogTab({ c }: { c: WatchedContainer }) {
  const { log, running, ready, failure } = useLog(c.container_id);
  const [follow, setFollow] = useState(true);
  const [typed, setTyped] = useState("");
  const [nth, setNth] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const hits = useMemo(() => found(log.lines, typed), [log.lines, typed]);
  const at = hits.length > 0 ? Math.min(nth, hits.length - 1) : -1;
  const hit = hits[at];

  useLayoutEffect(() => {
    const el = scroller.current;
    if (el && follow) el.scrollTop = el.scrollHeight;
  }, [log.lines, follow, ready]);
  useEffect(() => {
    if (hit === undefined || typed === "") return;
    setFollow(false);
    scroller.current?.querySelector(`[data-n="${hit}"]`)?.scrollIntoView({ block: "nearest" });
  }, [hit, typed]);

  const step = (by: number) => hits.length > 0 && setNth((at + by + hits.length) % hits.length);
  function onFindKey(e: KeyboardEvent) {
    if (e.key !== "Enter") return;
    e.preventDefault();
    step(e.shiftKey ? -1 : 1);
  }
  function onScroll() {
    const el = scroller.current;
    if (el) setFollow(el.scrollHeight - el.scrollTop - el.clientHeight < NEAR_PX);
  }
  const save = () => saveFile(new Blob([`${log.lines.map((l) => (l.at > 0 ? `${new Date(l.at).toISOString()} ` : "") + l.text).join("\n")}\n`], { type: "text/plain" }), `${c.container_name}.log`);
  return (
    <>
      <div className="containers-tools">
        <label className="containers-find">
          <Search size={14} aria-hidden />
          <input type="search" className="field containers-log-find" aria-label="Search the log" placeholder="Search the log" value={typed} onChange={(e) => { setTyped(e.target.value); setNth(0); }} onKeyDown={onFindKey} />
          {typed && <span className="tnum containers-quiet" role="status">{hits.length > 0 ? `${at + 1} of ${hits.length}` : "none"}</span>}
        </label>
        <IconButton name="Previous match" keys="Shift Enter" small disabled={hits.length === 0} onClick={() => step(-1)}><ArrowUp size={13} aria-hidden /></IconButton>
        <IconButton name="Next match" keys="Enter" small disabled={hits.length === 0} onClick={() => step(1)}><ArrowDown size={13} aria-hidden /></IconButton>
        <label className="containers-check"><input type="checkbox" checked={follow} onChange={(e) => setFollow(e.target.checked)} /> Follow</label>
        <Button look="small" disabled={log.lines.length === 0} onClick={save}>Save…</Button>
      </div>
      {failure && <div className="containers-pad"><FailureCard failure={failure} quiet /></div>}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className="containers-scroll containers-log mono selectable" ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label="Log" onScroll={onScroll}>
        {log.cut && <p className="containers-quiet">Only the last {MAX_LINES.toLocaleString("en")} lines are shown.</p>}
        {log.lines.map((l) => (
          <p key={l.n} data-n={l.n} className={`${l.tone} ${l.n === hit ? "here" : ""}`}>
            {l.at > 0 && <span className="containers-quiet">{precise(l.at)} </span>}
            {typed ? pieces(visible(l.text), typed).map((x, i) => (x.hit ? <mark key={i}>{x.text}</mark> : <span key={i}>{x.text}</span>)) : <SafeText text={l.text} />}
          </p>
        ))}
        {ready && log.lines.length === 0 && !failure && <p className="containers-quiet">Its first process has written nothing. What agents and terminals print is in their channel.</p>}
        {ready && log.lines.length > 0 && <p className="containers-quiet">{!running ? "It does not run, so nothing more comes." : follow ? "Following. New lines come here; scroll up to stop." : "Scroll to the end to follow."}</p>}
      </div>
    </>
  );
}
