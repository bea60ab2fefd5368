import { clock, when } from "../../model/clock";
import type { LogRun } from "../../model/gate-log";

type Props = { runs: { run: string; at: string }[]; run: LogRun | null; onRun(run: LogRun): void };

function title(r: { run: string; at: string }): string {
  if (!r.run) return "Programs in terminals";
  const at = Date.parse(r.at);
  return when(at) === clock(at) ? `Run of ${clock(at)}` : `Run of ${when(at)}, ${clock(at)}`;
}

/** Whose entries are shown. */
export function RunChoice({ runs, run, onRun }: Props) {
  return (
    <label>
      <span className="sr-only">Run</span>
      <select className="field" value={run ?? "all"} disabled={runs.length === 0} onChange={(e) => onRun(e.target.value)}>
        {runs.length === 0 && <option value="all">No run yet</option>}
        {runs.map((r) => <option key={r.run} value={r.run}>{title(r)}</option>)}
        {runs.length > 1 && <option value="all">All runs</option>}
      </select>
    </label>
  );
}
