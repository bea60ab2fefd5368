import { History, Link2, Link2Off } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import type { ChannelID, GateRecord } from "../../api/types";
import { arrive, leave } from "../../dock/visit";
import { precise } from "../../model/clock";
import type { LogFilter, LogRun } from "../../model/gate-log";
import { brokenWords, groupsOf, NO_FILTER, rowsOf, summaryWords } from "../../model/gate-log";
import { Button, Kbd, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { copyEntry, inTimelineOf, writeRule } from "./actions";
import { LogDetail } from "./LogDetail";
import { LogFilters } from "./LogFilters";
import { LogList } from "./LogList";
import { RunChoice } from "./RunChoice";
import { useRecord } from "./useRecord";
import { useChain, useWhy } from "./useWhy";
import { meaning } from "../../ui/keys";
import "./decisions.css";

/** What the gate has decided in a channel: the entries of one run, and all that is known of the chosen one. */
export function DecisionsPanel({ channelId }: { channelId: ChannelID }) {
  const [chosenRun, setRun] = useState<LogRun | null>(null);
  const [filter, setFilter] = useState<LogFilter>(NO_FILTER);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState("");
  const [closed, setClosed] = useState(false);
  const find = useRef<HTMLInputElement>(null);
  const log = useRecord(channelId, chosenRun, filter);
  const { chain, busy, verify } = useChain(channelId);
  const groups = useMemo(() => groupsOf(log.pages ?? []), [log.pages]);
  const rows = useMemo(() => rowsOf(groups, folded), [groups, folded]);
  const entries = useMemo(() => rows.flatMap((r) => (r.kind === "entry" ? [r.entry] : [])), [rows]);
  const place = entries.findIndex((e) => e.key === at);
  const current = entries[place];
  const { why, failure: whyFailure } = useWhy(channelId, closed ? undefined : current?.record);
  const broken = brokenWords(chain);
  const { summary } = log;

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
    const to = e.target as HTMLElement;
    if (to.matches("input, select")) {
      if (e.key === "Escape" && (filter.text === "" || to.matches("select"))) e.currentTarget.querySelector<HTMLElement>(".decisions-list")?.focus();
      else if (e.key === "Escape") setFilter({ ...filter, text: "" });
      return;
    }
    const does: Record<string, () => void> = {
      "decisions.next": () => step(1), ArrowDown: () => step(1), "decisions.previous": () => step(-1), ArrowUp: () => step(-1), PageDown: () => step(20), PageUp: () => step(-20),
      Home: () => step(-entries.length), End: () => step(entries.length), ArrowLeft: () => foldAll(true), ArrowRight: () => foldAll(false),
      "decisions.timeline": act((r) => inTimelineOf(r)), "decisions.rule": act((r) => writeRule(r)), "decisions.copy": act((r) => void copyEntry(r)),
      "decisions.find": () => find.current?.focus(),
      Escape: () => (current && !closed ? setClosed(true) : leave(e.currentTarget as HTMLElement)),
    };
    if (to.matches("button") && e.key.startsWith("Arrow")) return;
    const f = does[meaning("decisions", e)];
    if (!f) return;
    e.preventDefault();
    e.stopPropagation();
    f();
  }
  const detail = (inPlace: boolean) => current && !closed && <LogDetail e={current} why={why} failure={whyFailure} inPlace={inPlace} onStep={step} onClose={() => setClosed(true)} />;

  return (
    <section className="decisions" aria-label="Decisions" tabIndex={-1} onFocus={arrive} onKeyDown={onKeyDown} data-region="decisions">
      <header className="decisions-head">
        <RunChoice runs={log.runs} run={log.run} onRun={setRun} />
        <span className="grow" />
        {chain && !broken && <span className="decisions-holds"><Link2 size={13} aria-hidden /> Chain verified <span className="tnum">{precise(Date.parse(chain.at))}</span></span>}
        <Button look="small" disabled={busy} onClick={() => void verify()}>Verify again</Button>
        <Button look="small" disabled={log.reading} onClick={log.again}>Read again</Button>
      </header>
      {broken && <p className="decisions-broken" role="alert"><Link2Off size={14} aria-hidden /> <span><SafeText text={broken} /> What stands after that line may have been changed; “loop gate verify” says more.</span></p>}
      {log.failure && <div className="decisions-pad"><FailureCard failure={log.failure}><Button look="small" onClick={log.again}>Try again</Button></FailureCard></div>}
      {!log.failure && (summary === null || log.pages === null) && <Skeleton />}
      {!log.failure && summary?.entries === 0 && log.pages !== null && (
        <div className="dock-empty">
          <History size={20} aria-hidden />
          <h2>{log.runs.length === 0 ? "Nothing was decided yet" : "This run asked for nothing"}</h2>
          <p>What rules and you decide of programs in this channel stands here for 30 days. Send a prompt, then look again.</p>
        </div>
      )}
      {!log.failure && summary !== null && summary.entries > 0 && log.pages !== null && (
        <div className="decisions-body">
          <div className="decisions-left">
            <LogFilters filter={filter} onFilter={setFilter} all={summary.entries} asked={summary.asked} denied={summary.denied} find={find} />
            {log.news && <button type="button" className="decisions-news" onClick={() => void log.newest()}>Newer entries have come. Show them</button>}
            {groups.length === 0 ? (
              <div className="dock-empty">
                <p>No entry fits the filter.</p>
                <Button look="small" onClick={() => setFilter(NO_FILTER)}>Show all</Button>
              </div>
            ) : (
              <LogList channelId={channelId} rows={rows} counts={summary.groups ?? []} at={current?.key ?? at} closed={closed} more={log.next !== "" && !log.reading && !log.olderFailure ? log.more : null} newest={log.pages[0]} atTop={log.atTop}
                onChoose={(key) => { setAt(key); setClosed(false); }} onFold={(key, to) => setFolded((f) => new Set(to ? [...f, key] : [...f].filter((k) => k !== key)))} detail={detail(true)} />
            )}
            {log.olderFailure && <div className="decisions-pad"><FailureCard failure={log.olderFailure}><Button look="small" onClick={() => void log.more()}>Try again</Button></FailureCard></div>}
            <p className="decisions-foot">
              <span aria-hidden><KeyOf of="decisions.next" /> <KeyOf of="decisions.previous" /> entry &nbsp; <Kbd>← →</Kbd> fold &nbsp; <KeyOf of="decisions.timeline" /> timeline &nbsp; <KeyOf of="decisions.rule" /> rule &nbsp; <KeyOf of="decisions.copy" /> copy</span>
              <span className="tnum">{summaryWords(summary)}</span>
            </p>
          </div>
          <div className="decisions-right">{detail(false) || <p className="decisions-none">J and K choose an entry. What is known of it stands here.</p>}</div>
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
