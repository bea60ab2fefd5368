import { useEffect, useState } from "react";

/** Shows shapes at once, and words only after a second. */
export function TimelineSkeleton() {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const t = setTimeout(() => setSlow(true), 1000);
    return () => clearTimeout(t);
  }, []);
  return (
    <div className="column pad tl-skeleton" role="status" aria-label="Loading the timeline">
      <div className="skeleton" style={{ height: 52, width: "100%", borderRadius: 10 }} />
      {[88, 64, 40, 72].map((w) => (
        <div key={w} className="skeleton" style={{ width: `${w}%` }} />
      ))}
      {slow && <p className="muted">Loading the timeline</p>}
    </div>
  );
}
