import type { GateRule } from "../../api/types";
import { exact } from "../../model/clock";
import { plural } from "../../model/format";
import { Button, Kbd, KeyOf } from "../../ui/Button";
import { Fact } from "../../ui/Fact";
import { SafeLine, SafeText } from "../../ui/SafeText";

const ORIGINS: Record<string, string> = { first: "built in, tried first", project: "the project's file", remembered: "an answer for this project", yours: "your settings", built_in: "built in", default: "the default" };

/** All that is known of one rule. */
export function RuleFacts({ r, busy, onChange, onTurn, onRemove, onTest }: { r: GateRule; busy: boolean; onChange(): void; onTurn(): void; onRemove(): void; onTest(): void }) {
  const used = Date.parse(r.last_used ?? "");
  return (
    <section className="rules-facts" aria-label={`Rule ${r.number}`}>
      <h3>Rule {r.number}</h3>
      <p className="selectable"><SafeText text={r.text} /></p>
      {r.message && <p className="rules-quiet selectable"><SafeText text={r.message} /></p>}
      <dl className="selectable">
        <Fact name="From">{ORIGINS[r.origin] ?? r.origin}</Fact>
        <Fact name="File">{r.path && <span className="mono"><SafeLine text={r.line ? `${r.path}:${r.line}` : r.path} /></span>}</Fact>
        <Fact name="Name">{r.id && <span className="mono"><SafeLine text={r.id} /></span>}</Fact>
        <Fact name="Guards">{r.category}</Fact>
        <Fact name="Advice">{r.advice && <SafeText text={r.advice} />}</Fact>
        <Fact name="Used">{used > 0 ? `${plural(r.hits, "hit")} in 30 days, last ${exact(used)}` : "never"}</Fact>
        <Fact name="Matches">{`${plural(r.recent, "recent decision")} by itself`}</Fact>
      </dl>
      <footer>
        <Button look="small" onClick={onTest}>Test it <KeyOf of="rules.test" /></Button>
        {r.editable && <Button look="small" onClick={onChange}>Change <Kbd>Enter</Kbd></Button>}
        {r.editable && <Button look="small" disabled={busy} onClick={onTurn}>{r.off ? "Turn on" : "Turn off"} <KeyOf of="rules.turn" /></Button>}
        {r.editable && <Button look="small" disabled={busy} onClick={onRemove}>Delete <KeyOf of="rules.delete" /></Button>}
      </footer>
    </section>
  );
}
