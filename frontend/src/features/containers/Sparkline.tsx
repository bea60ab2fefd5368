import type { Used } from "../../model/containers";

/** What was used in the last ten minutes. The dotted line on top is the limit. */
export function Sparkline({ used, width, height, tone, label }: { used: Used | null; width: number; height: number; tone: "cpu" | "memory" | "fail"; label?: string }) {
  const look = tone === "fail" ? "fail" : used?.high ? "high" : tone;
  return (
    <svg className={`containers-line ${look}`} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}>
      <path className="containers-line-limit" d={`M0 .5H${width}`} />
      {used && <path className="containers-line-area" d={used.area} />}
      {used && <path className="containers-line-used" d={used.line} />}
    </svg>
  );
}
