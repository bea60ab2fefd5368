const NAMES = ["", "Progress", "Progress, with an error", "Working", "Progress, paused"];

/** The progress that a program reports by OSC 9;4. */
export function ProgressLine({ state, value }: { state: 0 | 1 | 2 | 3 | 4; value: number }) {
  if (state === 0) return null;
  return (
    <div className={`term-progress s${state}`} role="progressbar" aria-label={NAMES[state]} aria-valuemin={0} aria-valuemax={100} {...(state === 3 ? {} : { "aria-valuenow": value })}>
      <span style={{ width: state === 3 ? "100%" : `${value}%` }} />
    </div>
  );
}
