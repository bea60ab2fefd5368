import { History, Link2, Link2Off } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import type { ChannelID, GateRecord } from "../../api/types";
import { clock, precise, when } from "../../model/clock";
import type { LogFilter } from "../../model/gate-log";
import { brokenWords, groupsOf, NO_FILTER, passes, READ_MOST, rowsOf, runsOf, summary, wasAsked, wasDenied } from "../../model/gate-log";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { copyEntry, copyRule, inTimelineOf } from "./actions";
import { LogDetail } from "./LogDetail";
import { LogFilters } from "./LogFilters";
import { LogList } from "./LogList";
import { useRecord } from "./useRecord";
import "./decisions.css";

/** What the gate has decided in a channel: the entries of one run, and all that is known of the chosen one. */
export function DecisionsPanel({ channelId }: { channelId: ChannelID }) {
  const { records, files, verified, failure, busy, load, verify } = useRecord(channelId);
  const [chosenRun, setRun] = useState<string | null>(null);
  const [filter, setFilter] = useState<LogFilter>(NO_FILTER);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState("");
  const [closed, setClosed] = useState(false);
  const find = useRef<HTMLInputElement>(null);
  const runs = useMemo(() => runsOf(records ?? []), [records]);
  const run = chosenRun ?? runs[0]?.run ?? "";
  const ofRun = useMemo(() => (records ?? []).filter((r) => (r.run_id ?? "") === run), [records, run]);
  const groups = useMemo(() => groupsOf(ofRun.filter((r) => passes(r, filter))), [ofRun, filter]);
  const rows = useMemo(() => rowsOf(groups, folded), [groups, folded]);
  const entries = useMemo(() => rows.flatMap((r) => (r.kind === "entry" ? [r.entry] : [])), [rows]);
  const place = entries.findIndex((e) => e.key === at);
  const current = entries[place];
  const broken = brokenWords(files ?? [], channelId);

  const step = (by: number) => {
    const next = entries[Math.min(entries.length - 1, Math.max(0, place >= 0 ? place + by : by > 1 ? by : 0))];
    if (next) {
      setAt(next.key);
      setClosed(false);
    }
  };
  const foldAll = (to: boolean) => {
    const g = groups.find((x) => x.entries.some((e) => e.key === at) || x.key === at);
    if (!g) return;
    setFolded((f) => new Set(to ? [...f, g.key] : [...f].filter((k) => k !== g.key)));
    setAt(to ? g.key : (g.entries[0]?.key ?? g.key));
  };
  const act = (f: (r: GateRecord) => void) => () => current && f(current.record);

  function onKeyDown(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches("input, select")) return;
    const does: Record<string, () => void> = {
      j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), PageDown: () => step(20), PageUp: () => step(-20),
      Home: () => step(-entries.length), End: () => step(entries.length), ArrowLeft: () => foldAll(true), ArrowRight: () => foldAll(false),
      t: act((r) => inTimelineOf(r)), m: act((r) => void copyRule(r)), c: act((r) => void copyEntry(r)),
      "/": () => find.current?.focus(), Escape: () => setClosed(true),
    };
    if ((e.target as HTMLElement).matches("button") && e.key.startsWith("Arrow")) return;
    const f = does[e.key];
    if (!f) return;
    e.preventDefault();
    f();
  }

  return (
    <section className="decisions" aria-label="Decisions" tabIndex={-1} onKeyDown={onKeyDown} data-region="decisions">
      <header className="decisions-head">
        <label>
          <span className="sr-only">Run</span>
          <select className="field" value={run} disabled={runs.length === 0} onChange={(e) => setRun(e.target.value)}>
            {runs.length === 0 && <option value="">No run yet</option>}
            {runs.map((r) => <option key={r.run} value={r.run}>{r.run ? `Run of ${when(Date.parse(r.at))}${when(Date.parse(r.at)) === clock(Date.parse(r.at)) ? "" : `, ${clock(Date.parse(r.at))}`}` : "Programs in terminals"}</option>)}
          </select>
        </label>
        <span className="grow" />
        {verified > 0 && !broken && <span className="decisions-holds"><Link2 size={13} aria-hidden /> Chain verified <span className="tnum">{precise(verified)}</span></span>}
        <Button look="small" disabled={busy} onClick={() => void verify()}>Verify again</Button>
        <Button look="small" disabled={busy} onClick={() => void load()}>Read again</Button>
      </header>
      {broken && <p className="decisions-broken" role="alert"><Link2Off size={14} aria-hidden /> <span><SafeText text={broken} /> What stands after that line may have been changed; “loop gate verify” says more.</span></p>}
      {failure && <div className="decisions-pad"><FailureCard failure={failure}><Button look="small" onClick={() => void load()}>Try again</Button></FailureCard></div>}
      {!failure && records === null && <Skeleton />}
      {!failure && records !== null && ofRun.length === 0 && (
        <div className="dock-empty">
          <History size={20} aria-hidden />
          <h2>{runs.length === 0 ? "Nothing was decided yet" : "This run asked for nothing"}</h2>
          <p>What rules and you decide of programs in this channel stands here for 30 days. Send a prompt, then look again.</p>
        </div>
      )}
      {ofRun.length > 0 && (
        <div className="decisions-body">
          <div className="decisions-left">
            <LogFilters filter={filter} onFilter={setFilter} all={ofRun.length} asked={ofRun.filter(wasAsked).length} denied={ofRun.filter(wasDenied).length} find={find} />
            {entries.length === 0 && groups.length === 0 ? (
              <div className="dock-empty">
                <p>No entry fits the filter.</p>
                <Button look="small" onClick={() => setFilter(NO_FILTER)}>Show all</Button>
              </div>
            ) : (
              <LogList channelId={channelId} rows={rows} at={current?.key ?? at} closed={closed} onChoose={(key) => { setAt(key); setClosed(false); }}
                onFold={(key, to) => setFolded((f) => new Set(to ? [...f, key] : [...f].filter((k) => k !== key)))} detail={current && !closed ? <LogDetail e={current} inPlace onStep={step} onClose={() => setClosed(true)} /> : null} />
            )}
            <p className="decisions-foot">
              <span aria-hidden><Kbd>J</Kbd> <Kbd>K</Kbd> entry &nbsp; <Kbd>← →</Kbd> fold &nbsp; <Kbd>T</Kbd> timeline &nbsp; <Kbd>C</Kbd> copy</span>
              <span className="tnum">{summary(ofRun)}{(records?.length ?? 0) >= READ_MOST ? ` · the newest ${READ_MOST.toLocaleString("en")}` : ""}</span>
            </p>
          </div>
          <div className="decisions-right">{current && !closed ? <LogDetail e={current} onStep={step} onClose={() => setClosed(true)} /> : <p className="decisions-none">J and K choose an entry. What is known of it stands here.</p>}</div>
        </div>
      )}
    </section>
  );
}

function Skeleton() {
  return (
    <div className="decisions-pad" role="status" aria-label="Reading the record">
      {[70, 55, 62, 40, 66, 50].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}
    </div>
  );
}
