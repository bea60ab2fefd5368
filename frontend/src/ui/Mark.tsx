/** Loop's logo: a ring whose last quarter is still being drawn. */
export function LoopMark({ size = 18 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path d="M20.2 12A8.2 8.2 0 1 1 12 3.8" stroke="var(--accent)" strokeWidth="4.4" />
      <path d="M12 3.8A8.2 8.2 0 0 1 20.2 12" stroke="var(--accent)" strokeOpacity=".38" strokeWidth="4.4" />
    </svg>
  );
}

export function Spinner({ size = 14 }: { size?: number }) {
  return (
    <svg className="spin" width={size} height={size} viewBox="0 0 16 16" fill="none" aria-hidden="true">
      <path d="M14 8a6 6 0 1 1-6-6" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
    </svg>
  );
}
