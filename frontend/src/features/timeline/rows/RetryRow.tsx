import { Check, CircleSlash, RotateCw, X } from "lucide-react";
import { duration, elapsed } from "../../../model/format";
import type { RetryItem } from "../../../model/timeline/items";
import { retryWords } from "../../../model/timeline/retries";
import { retryRun } from "../../../session/actions";
import { Button } from "../../../ui/Button";
import { Spinner } from "../../../ui/Mark";
import { SafeText } from "../../../ui/SafeText";
import { useNow } from "../../../ui/useNow";
import { Gutter } from "./Gutter";
import "./retryrow.css";

const ENDS = { "": RotateCw, answered: Check, failed: X, stopped: CircleSlash };

/** The wait for a model that refused: one row that counts down, and in the end says what came of it. */
export function RetryRow({ item }: { item: RetryItem }) {
  const open = item.until === 0;
  const now = useNow(open);
  const w = retryWords(item, now);
  const Icon = ENDS[item.end];
  return (
    <div className={`main retryrow ${open ? "open" : item.end}`}>
      {open ? <Spinner size={14} /> : <Icon size={14} aria-hidden />}
      <span className="retryrow-words selectable">
        <span className="retryrow-head tnum">{w.head}</span> <span className="retryrow-why"><SafeText text={w.why} /></span>
      </span>
      {open && item.own && (
        <Button look="small" onClick={() => void retryRun(item.runId)} aria-label="Try now">
          <RotateCw size={12} aria-hidden />
          <span className="timeline-whole">Try now</span>
          <span className="timeline-short">Now</span>
        </Button>
      )}
    </div>
  );
}

/** How long the model has been waited for. */
export function RetryGutter({ item }: { item: RetryItem }) {
  const now = useNow(item.until === 0);
  const took = (item.until || now) - item.at;
  return <Gutter at={item.at} text={item.until ? duration(took) : elapsed(took)} took={took} />;
}
