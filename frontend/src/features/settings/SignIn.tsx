import { Check, Circle, CircleDot, CircleX, ExternalLink } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure, LoopEvent, SignInState, SignInStep } from "../../api/types";
import { batchListeners } from "../../model/stores";
import { Button } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { openLink } from "../../session/actions";
import { session } from "../../session/session";
import { KeyTrialLine } from "./KeyTrialLine";
import "./signin.css";

/** The steps as a person sees them, and the states of the sign-in in which each goes on. */
const STEPS: { name: string; goes: SignInStep[] }[] = [
  { name: "Claude Code starts", goes: ["starting"] },
  { name: "You sign in on Claude's page", goes: ["browser"] },
  { name: "Claude Code gets the token", goes: ["checking"] },
  { name: "The token is tried and kept", goes: ["trying"] },
];
const OVER = STEPS.length;
const NONE: SignInState = { step: "none", asks: false };

function stepOf(s: SignInStep): number {
  return s === "done" ? OVER : STEPS.findIndex((x) => x.goes.includes(s));
}

/** Signs in to a Claude subscription: walks through “claude setup-token”, which runs on this computer. */
export function SignIn({ onDone }: { onDone(): void }) {
  const [{ now, last }, setState] = useState({ now: NONE, last: 0 }); // last: the step at which it failed
  const [code, setCode] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const take = useCallback((s: SignInState) => setState((before) => ({ now: s, last: stepOf(s.step) >= 0 ? stepOf(s.step) : before.last })), []);
  const done = now.step === "done";
  useEffect(() => { if (done) onDone(); }, [done, onDone]);

  useEffect(() => {
    let here = true;
    session().api.system.signInNow().then((s) => here && take(s), () => undefined); // an earlier one; a new one says why it cannot begin
    const hear = (batch: LoopEvent[]) => {
      for (const e of batch) if (e.type === "signin.changed" && e.data) take(e.data as SignInState);
    };
    batchListeners.add(hear);
    return () => {
      here = false;
      batchListeners.delete(hear);
    };
  }, [take]);

  const call = (what: Promise<SignInState>) => {
    setFailure(null);
    what.then(take, (err: unknown) => {
      setFailure(toFailure(err));
      session().api.system.signInNow().then(take, () => undefined);
    });
  };
  const begin = () => {
    setCode("");
    setState({ now: { step: "starting", asks: false }, last: 0 });
    call(session().api.system.beginSignIn());
  };
  const end = () => {
    setFailure(null);
    session().api.system.endSignIn().then(() => {
      setState({ now: NONE, last: 0 });
      requestAnimationFrame(() => button.current?.focus());
    }, (err: unknown) => setFailure(toFailure(err)));
  };
  const give = () => {
    call(session().api.system.giveSignInCode(code.trim()));
    setCode("");
  };

  const going = ["starting", "browser", "checking", "trying"].includes(now.step);
  const at = now.step === "failed" ? last : stepOf(now.step);
  const said = failure ?? now.failure;
  if (now.step === "none" && !said) {
    return (
      <div className="signin">
        <Button ref={button} onClick={begin}>Sign in with Claude</Button>
        <span className="hint">Runs “claude setup-token” on this computer, and keeps the token that it gives.</span>
      </div>
    );
  }
  return (
    <section className="signin signin-open" aria-label="Sign in with Claude">
      <p className="sr-only" role="status">{now.step === "failed" ? "The sign-in failed." : now.step === "done" ? "You are signed in." : `Step ${at + 1} of ${STEPS.length}: ${STEPS[at]?.name ?? ""}`}</p>
      <ol className="signin-steps">
        {STEPS.map((s, i) => (
          <li key={s.name} aria-current={going && i === at ? "step" : undefined} className={i < at ? "past" : i === at ? "now" : ""}>
            {i < at ? <Check size={14} aria-label="done" /> : i === at && now.step === "failed" ? <CircleX size={14} aria-label="failed" /> : i === at ? <CircleDot size={14} aria-label="now" /> : <Circle size={14} aria-label="to come" />}
            <span>{s.name}</span>
          </li>
        ))}
      </ol>
      {now.url && going && (
        <div className="signin-page">
          <p>A browser may have opened by itself. If not, open the page, sign in, and come back.</p>
          <span className="signin-foot">
            <Button onClick={() => openLink(now.url ?? "")}><ExternalLink size={14} aria-hidden /> Open the page</Button>
            <CopyIcon text={now.url} name="Copy the address of the page" />
          </span>
        </div>
      )}
      {now.asks && going && (
        <form className="signin-code" onSubmit={(e) => { e.preventDefault(); if (code.trim()) give(); }}>
          <label className="label" htmlFor="signin-code">If the page shows a code, paste it here</label>
          <span className="signin-foot">
            <input id="signin-code" className="field mono" autoComplete="off" spellCheck={false} value={code} onChange={(e) => setCode(e.target.value)} />
            <Button type="submit" disabled={!code.trim()}>Go on</Button>
          </span>
        </form>
      )}
      {now.trial && now.step !== "failed" && <KeyTrialLine trial={now.trial} />}
      {said && (
        <FailureCard failure={said}>
          <Button look="small" onClick={begin}>Begin again</Button>
        </FailureCard>
      )}
      <span className="signin-foot">
        <Button look="small" onClick={end}>{going ? "Cancel the sign-in" : "Close"}</Button>
      </span>
    </section>
  );
}
