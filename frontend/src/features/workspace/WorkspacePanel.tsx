import { Bot, Folder, RotateCw, Search } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ChannelID, CopyDifference } from "../../api/types";
import { keepData } from "../../dock/layouts";
import { arrive, leave } from "../../dock/visit";
import type { PanelID } from "../../model/dock/layout";
import { clock } from "../../model/clock";
import { plural } from "../../model/format";
import type { Row, WorkspaceKept } from "../../model/workspace";
import { marksOf, rowsOf, tickedAtFirst, wayOf } from "../../model/workspace";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeLine } from "../../ui/SafeText";
import { CopyDiff } from "./CopyDiff";
import { CopyList } from "./CopyList";
import { RecreateCard } from "./RecreateCard";
import { useComparison } from "./useComparison";
import { meaning } from "../../ui/keys";
import "./workspace.css";

/** The copy in which a channel's agents work, beside the original. */
export function WorkspacePanel({ channelId, panelId, kept }: { channelId: ChannelID; panelId: PanelID; kept: WorkspaceKept | null }) {
  const panel = useRef<HTMLElement>(null);
  const { c, failure, at: comparedAt, busy, compare, act, bring } = useComparison(channelId, panel);
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState("");
  const [at, setAt] = useState(kept?.path ?? "");
  const [shown, setShown] = useState(kept?.path ?? "");
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null); // null: nothing was ticked by hand
  const find = useRef<HTMLInputElement>(null);
  const rows = useMemo(() => (c ? rowsOf(c, turned, filter) : []), [c, turned, filter]);
  const ticked = useMemo(() => chosen ?? (c ? tickedAtFirst(c) : new Set<string>()), [c, chosen]);
  const all = c?.differences ?? [];
  const promote = c ? marksOf(c, ticked, "promote") : {};
  const pull = c ? marksOf(c, ticked, "pull") : {};
  const nPromote = Object.keys(promote).length, nPull = Object.keys(pull).length;
  const toPull = all.filter((d) => wayOf(d) === "pull");
  const place = rows.findIndex((r) => r.path === at);
  const row = rows[place];
  const file = all.find((d) => d.path === shown);

  useEffect(() => keepData(channelId, panelId, shown ? { path: shown } : null), [channelId, panelId, shown]);
  useEffect(() => { // the panel had the keyboard while it was compared
    if (c && document.activeElement === panel.current) panel.current?.querySelector<HTMLElement>(".workspace-list")?.focus();
  }, [c]);

  const toList = () => panel.current?.querySelector<HTMLElement>(".workspace-list")?.focus();
  const tick = (d: CopyDifference) => wayOf(d) !== "choose" && setChosen(new Set(ticked.has(d.path) ? [...ticked].filter((p) => p !== d.path) : [...ticked, d.path]));
  const tickAll = (some: CopyDifference[]) => setChosen(new Set([...ticked, ...some.map((d) => d.path)]));
  const send = (way: "promote" | "pull", marks: Record<string, string>) => {
    if (busy || Object.keys(marks).length === 0) return;
    void bring(way, marks).then((done) => done && setChosen(null));
    toList();
  };
  const turn = (r: Row) => r.kind === "folder" && setTurned(new Set(turned.has(r.path) ? [...turned].filter((p) => p !== r.path) : [...turned, r.path]));
  const choose = (r: Row | undefined) => {
    if (!r) return;
    setAt(r.path);
    if (r.kind === "file") setShown(r.path);
  };
  const step = (by: number) => choose(rows[Math.min(rows.length - 1, Math.max(0, place < 0 ? 0 : place + by))]);

  function onKeyDown(e: KeyboardEvent) {
    const to = e.target as HTMLElement;
    const key = meaning("workspace", e);
    const sends = { "workspace.promote": () => send("promote", promote), "workspace.pull": () => send("pull", pull) }[key];
    if (sends && !to.matches("input[type=search]")) {
      e.preventDefault();
      e.stopPropagation();
      sends();
      return;
    }
    if (e.key === "Escape" && !to.matches(".workspace-list, .workspace")) {
      e.stopPropagation();
      if (to === find.current && filter) setFilter("");
      else toList();
      return;
    }
    if (!to.matches(".workspace-list, .workspace")) return;
    const does: Record<string, () => void> = {
      ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(20), PageUp: () => step(-20), Home: () => step(-rows.length), End: () => step(rows.length),
      ArrowLeft: () => row?.kind === "folder" && row.open && turn(row), ArrowRight: () => row?.kind === "folder" && !row.open && turn(row),
      " ": () => (row?.kind === "file" ? tick(row.d) : row && turn(row)),
      Enter: () => (row?.kind === "folder" ? turn(row) : panel.current?.querySelector<HTMLElement>(".workspace-text")?.focus()),
      "workspace.compare": () => void compare(), "workspace.filter": () => find.current?.focus(), Escape: () => leave(e.currentTarget as HTMLElement),
    };
    const f = does[key];
    if (!f) return;
    e.preventDefault();
    e.stopPropagation();
    f();
  }

  return (
    <section className={`workspace ${file ? "workspace-front" : ""}`} ref={panel} aria-label="Copy and original" tabIndex={-1} onFocus={arrive} onKeyDown={onKeyDown} data-region="workspace">
      <header className="workspace-head">
        <b>Differences <span className="tnum">{c ? all.length : ""}</span></b>
        <label className="workspace-find">
          <Search size={13} aria-hidden />
          <input ref={find} className="field" type="search" aria-label="Filter by path" placeholder="Filter by path" value={filter} onChange={(e) => setFilter(e.target.value)} />
        </label>
        <span className="grow" />
        {comparedAt > 0 && <span className="workspace-fact tnum">compared at {clock(comparedAt)}</span>}
        <IconButton name="Compare again" action="workspace.compare" small disabled={busy} onClick={() => void compare()}><RotateCw size={14} aria-hidden /></IconButton>
      </header>
      {failure && (failure.code === "not_found" ? (
        <div className="dock-empty"><Bot size={20} aria-hidden /><h2><SafeLine text={failure.cause} /></h2><p><SafeLine text={failure.remedy ?? ""} /></p><Button look="small" onClick={() => void compare()}>Compare again</Button></div>
      ) : <div className="workspace-pad"><FailureCard failure={failure}><Button look="small" onClick={() => void compare()}>Compare again</Button></FailureCard></div>)}
      {!failure && !c && <div className="workspace-pad" role="status" aria-label="Comparing">{[70, 55, 62, 40].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
      {!failure && c && (
        <div className="workspace-body">
          <div className="workspace-main">
            <div className="workspace-cols">
              <span><Folder size={14} aria-hidden /> <b>Original</b> <span className="mono ellipsis" title={c.original}><SafeLine text={c.original} /></span></span>
              <span className="workspace-fact">since both were the same</span>
              <span><Bot size={14} aria-hidden /> <b>Copy</b> <span className="mono ellipsis" title={c.copy}><SafeLine text={c.copy} /></span></span>
            </div>
            {all.length === 0 ? <div className="dock-empty"><p>Copy and original are the same.</p></div>
              : rows.length === 0 ? <div className="dock-empty"><p>No path fits the filter.</p><Button look="small" onClick={() => setFilter("")}>Show all</Button></div>
                : <CopyList rows={rows} at={at} ticked={ticked} onChoose={(r) => { choose(r); turn(r); }} onTick={tick} />}
            {(c.left ?? []).length > 0 && <details className="workspace-left"><summary>{plural(c.left?.length ?? 0, "file")} cannot be compared</summary><ul>{c.left?.map((l) => <li key={l.text}><span className="mono"><SafeLine text={l.text} /></span> <SafeLine text={l.reason} /></li>)}</ul></details>}
            {all.length > 0 && (
              <div className="workspace-bar">
                <span><b className="tnum">{nPromote + nPull} ticked</b></span>
                {toPull.length > 0 && nPull < toPull.length && <button type="button" className="link" onClick={() => tickAll(toPull)}>Tick the {toPull.length} of the original</button>}
                <span className="grow" />
                <Button look="primary" disabled={busy || nPromote === 0} onClick={() => send("promote", promote)}>Promote {nPromote} to the original <KeyOf of="workspace.promote" /></Button>
                <Button disabled={busy || nPull === 0} onClick={() => send("pull", pull)}>Pull {nPull} into the copy <KeyOf of="workspace.pull" /></Button>
              </div>
            )}
            {file && <CopyDiff channelId={channelId} d={file} busy={busy} onBring={(way) => send(way, { [file.path]: file.mark })} onBack={() => { setShown(""); toList(); }} />}
          </div>
          <RecreateCard channelId={channelId} c={c} at={comparedAt} busy={busy} act={act} onPromote={toList} compare={() => void compare()} />
        </div>
      )}
    </section>
  );
}
