import { Hand, MousePointer2, Undo2 } from "lucide-react";
import type { BrowserState } from "../../api/browser-messages";
import { ago } from "../../model/browser/deed";
import { elapsed } from "../../model/format";
import { Button, KeyOf } from "../../ui/Button";
import { useAriaKeys } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { useNow } from "../../ui/useNow";
import type { BrowserPane } from "./pane";

const WHO = { person: "You are driving", agent: "Claude is driving", nobody: "Nobody is driving" };

/** Who drives, what the agent did last, and the way to take over or give back. */
export function BatonBar({ pane, state }: { pane: BrowserPane; state: BrowserState | null }) {
  const aria = useAriaKeys("browser.baton");
  const driver = state?.driver ?? "nobody";
  const now = useNow(driver === "agent");
  if (state?.phase !== "running") return null;
  const key = <KeyOf of="browser.baton" />;
  const deed = state.deed && <SafeText text={state.deed.text} />;
  return (
    <div className={`browser-baton ${driver}`}>
      {driver === "person" ? <Hand size={15} aria-hidden /> : <MousePointer2 size={15} aria-hidden />}
      <span className="browser-baton-text">
        <strong role="status">{WHO[driver]}</strong>
        {driver === "agent" && state.deed && <span>{deed}, <span aria-hidden>{ago(now - state.deed.at)}</span></span>}
        {driver === "person" && <span>{state.waitingMs > 0 ? `Claude waits, ${elapsed(state.waitingMs)}` : "Claude acts when you give back"}</span>}
        {driver === "nobody" && deed && <span>Claude {deed} last</span>}
      </span>
      {driver === "person" ? (
        <Button look="small" aria-keyshortcuts={aria} onClick={() => pane.baton()}><Undo2 size={13} aria-hidden /> Give back {key}</Button>
      ) : (
        <Button look="small" aria-keyshortcuts={aria} onClick={() => pane.baton()}><Hand size={13} aria-hidden /> Take over {key}</Button>
      )}
    </div>
  );
}
