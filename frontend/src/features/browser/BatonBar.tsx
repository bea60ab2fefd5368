import { Hand, MousePointer2, MousePointerClick, Undo2 } from "lucide-react";
import type { BrowserState } from "../../api/browser-messages";
import { SafeText } from "../../ui/SafeText";
import { Button, Kbd } from "../../ui/Button";
import { keys, MOD } from "../../ui/keys";
import { useNow } from "../../ui/useNow";
import type { BrowserPane } from "./pane";

const ago = (ms: number) => (ms < 1500 ? "now" : ms < 90_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`);

/** Who drives, what the agent did last, and the way to take over or give back. */
export function BatonBar({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const driver = state?.driver ?? "nobody";
  const now = useNow(driver === "agent");
  if (state?.phase !== "running") return null;
  const key = <Kbd>{keys(MOD, "Shift", "G")}</Kbd>;
  const deed = state.deed ? <SafeText text={state.deed.text} /> : null;
  return (
    <div className={`browser-baton ${driver}`} role="status">
      {driver === "person" ? <Hand size={14} aria-hidden /> : driver === "agent" ? <MousePointerClick size={14} aria-hidden /> : <MousePointer2 size={14} aria-hidden />}
      <span className="browser-baton-text">
        <strong>{driver === "person" ? "You are driving" : driver === "agent" ? "Claude is driving" : "Nobody is driving"}</strong>
        {driver === "agent" && state.deed && <span> {deed}, <span aria-hidden>{ago(now - state.deed.at)}</span></span>}
        {driver === "person" && (state.waitingMs > 0 ? <span> Claude waits, {Math.round(state.waitingMs / 1000)} s</span> : <span> Claude can look, and acts when you give back</span>)}
        {driver === "nobody" && deed && <span> Claude {deed} last</span>}
      </span>
      {driver === "person" ? (
        <Button look="small" onClick={() => pane.send({ type: "give" })}><Undo2 size={13} aria-hidden /> Give back {key}</Button>
      ) : (
        <Button look="small" onClick={() => pane.send({ type: "take" })}><Hand size={13} aria-hidden /> Take over {key}</Button>
      )}
    </div>
  );
}
