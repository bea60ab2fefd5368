import { CircleCheck, CircleSlash, CircleX, Unplug } from "lucide-react";
import type { ClientState } from "../../model/terminals/client";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { openDialog } from "../../session/actions";
import type { PaneAction } from "./props";

/** Says why the terminal cannot be used now, or that it has ended. */
export function PaneState({ client, drawn, onRetry, onAction }: { client: ClientState; drawn: boolean; onRetry(): void; onAction(a: PaneAction): void }) {
  switch (client.state) {
    case "failed":
      return (
        <div className="term-failed">
          {client.failure && (
            <FailureCard failure={client.failure}>
              {client.failure.code === "toolchain" && <Button look="small primary" onClick={() => openDialog("toolchain")}>Look at it</Button>}
              <Button look="small" onClick={onRetry}>Try again</Button>
              <Button look="small" onClick={() => onAction("close")}>Close</Button>
            </FailureCard>
          )}
        </div>
      );
    case "reconnecting":
      if (!drawn || client.retries < 2) return null; // a short break is not worth a message
      return (
        <div className="term-bar need" role="status">
          <Unplug size={14} aria-hidden />
          {/* A program on this computer is a child of Loop and ends with it. */}
          <p>Loop does not answer. {client.target === "host" ? "Keys are not sent." : "The program goes on; keys are not sent."}</p>
          <Button look="small" onClick={onRetry}>Try now</Button>
        </div>
      );
    case "away":
      return (
        <div className="term-bar need" role="status">
          <CircleSlash size={14} aria-hidden />
          <p>The container cannot be reached now. Loop tries again by itself; keys are not sent until then.</p>
        </div>
      );
    case "ended":
      return (
        <div className="term-bar" role="status">
          <Ended client={client} />
          <Button look="small" onClick={() => onAction("restart")}>Restart</Button>
          <Button look="small" onClick={() => onAction("close")}>Close</Button>
        </div>
      );
    default:
      return null;
  }
}

function Ended({ client: { exit } }: { client: ClientState }) {
  if (!exit) return <p>The session ended.</p>;
  const well = exit.code === 0 && !exit.signal;
  const Icon = well ? CircleCheck : CircleX;
  return (
    <>
      <Icon size={14} className={well ? "ok" : "bad"} aria-hidden />
      <p>
        {exit.reason ? <><SafeText text={exit.reason} /> </> : null}
        {exit.signal ? `Ended by ${exit.signal}.` : exit.reason && exit.code === 0 ? null : `Ended with exit code ${exit.code}.`}
      </p>
    </>
  );
}
