import type { ContextFill } from "../api/types";
import { tokens } from "../model/format";
import { fullness } from "../model/usage";

const R = 5.5;
const ROUND = 2 * Math.PI * R;

/** A ring that shows how full a context is. An unknown fill is 0 percent. The ring is amber above 80 %. */
export function Ring({ percent, size = 14 }: { percent: number; size?: number }) {
  return (
    <svg className={`ring ${percent > 80 ? "high" : ""}`} width={size} height={size} viewBox="0 0 14 14" fill="none" strokeWidth="1.8" aria-hidden="true">
      <circle cx="7" cy="7" r={R} />
      {percent > 0 && <circle className="ring-full" cx="7" cy="7" r={R} strokeDasharray={`${(ROUND * percent) / 100} ${ROUND}`} transform="rotate(-90 7 7)" />}
    </svg>
  );
}

/** The fill of the context of a channel's conversation, shown beside the prompt box. */
export function ContextMeter({ context, fresh }: { context: ContextFill | undefined; fresh: boolean }) {
  const percent = fresh ? null : fullness(context);
  if (percent === null) {
    const used = fresh ? 0 : (context?.used_tokens ?? 0);
    const why = fresh ? "empty: the next prompt begins a new conversation" : used ? `${tokens(used)} tokens; the size of the model's context is not known` : "known after the next answer";
    return (
      <span className="context-meter" role="img" aria-label={`Context ${why}`} title={`Context ${why}`}>
        <Ring percent={0} />
      </span>
    );
  }
  const words = `${percent} % full, ${tokens(context?.used_tokens ?? 0)} of ${tokens(context?.window_tokens ?? 0)} tokens`;
  return (
    <span
      className={`context-meter tnum ${percent > 80 ? "high" : ""}`} role="meter" aria-label="Context" title={`Context ${words}`}
      aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100} aria-valuetext={words}
    >
      <Ring percent={percent} />
      {percent} %
    </span>
  );
}
