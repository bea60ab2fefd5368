import { useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { ConfigStatus, CredentialKind, CredentialStatus, Failure, KeyTrial } from "../../api/types";
import { typedKeysStore } from "../../model/settings-drafts";
import { doctorStore, frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";
import { KeyTrialLine } from "./KeyTrialLine";
import { SignIn } from "./SignIn";

const KINDS: Record<CredentialKind, { name: string; hint: string; start: string }> = {
  anthropic_api_key: { name: "API key", hint: "From the Anthropic console; it begins with sk-ant-api. It is tried with one request that costs nothing.", start: "sk-ant-" },
  claude_code_oauth_token: { name: "Claude Code token", hint: "For a Claude subscription: sign in, or paste what “claude setup-token” gave; it begins with sk-ant-oat.", start: "sk-ant-oat" },
};
const PLACES: Record<string, string> = { config: "in config.json", keyring: "in the system's keyring", file: "in an encrypted file of Loop's folder" };
const CHECK_AGAIN = { phase: "none" } as const;

/** The key of the model: a field for a new one, which is tried when it is saved, and where each is kept. */
export function ModelAccess() {
  const config = useStore(frameStore, (f) => f.config);
  const [kind, setKind] = useState<CredentialKind>(config?.credential_kind === "claude_code_oauth_token" ? "claude_code_oauth_token" : "anthropic_api_key");
  const value = useStore(typedKeysStore, (all) => all[kind] ?? "");
  const [busy, setBusy] = useState<"" | "trying" | "working">("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [trial, setTrial] = useState<{ of: KeyTrial; stored: boolean } | null>(null);
  const [list, setList] = useState<CredentialStatus[]>([]);
  const field = useRef<HTMLInputElement>(null);
  const load = useCallback(() => {
    session().api.system.credentials().then((l) => setList(l ?? []), (err: unknown) => setFailure(toFailure(err)));
  }, []);
  useEffect(load, [load, config]);
  const k = KINDS[kind];
  const odd = value.trim() !== "" && !value.trim().startsWith(k.start);

  async function work(how: "trying" | "working", what: () => Promise<ConfigStatus | null>) {
    setBusy(how);
    setFailure(null);
    try {
      const now = await what();
      if (now) frameStore.setState({ config: now });
      doctorStore.setState(CHECK_AGAIN);
      load();
    } catch (err) {
      setFailure(toFailure(err));
    } finally {
      setBusy("");
    }
  }
  const save = (anyway: boolean) => work(anyway ? "working" : "trying", async () => {
    setTrial(null);
    const saved = await session().api.system.saveCredential(kind, value.trim(), anyway);
    setTrial({ of: saved.trial, stored: saved.stored });
    if (!saved.stored) return null; // the text stays
    typedKeysStore.setState((all) => (all[kind] === value ? { [kind]: "" } : {})); // another one that was typed meanwhile stays
    return saved.config;
  });
  const again = (of: CredentialKind) => work("trying", async () => {
    setTrial(null);
    await session().api.system.tryCredential(of);
    return null;
  });
  const stop = () => {
    field.current?.focus();
    session().api.system.stopCredentialTrial().catch((err: unknown) => setFailure(toFailure(err)));
  };
  const kept = list.filter((s) => s.set || s.failure);
  const told = trial && !(trial.stored && kept.some((s) => s.trial)); // else the line of the key says it

  return (
    <section className="setting" aria-label="Model access">
      <p className="hint first">
        {config?.has_credentials ? "A key is never shown again; a new one replaces it." : "No key yet. The demo channel works without one."}
      </p>
      <form onSubmit={(e) => { e.preventDefault(); if (!busy && value.trim()) void save(false); }}>
        <div className="segments" role="radiogroup" aria-label="Kind">
          {(Object.keys(KINDS) as CredentialKind[]).map((id) => (
            <label key={id} className={kind === id ? "on" : ""}>
              <input type="radio" name="kind" value={id} checked={kind === id} onChange={() => { setKind(id); setTrial(null); }} />
              {KINDS[id].name}
            </label>
          ))}
        </div>
        <label className="sr-only" htmlFor="credential">{k.name}</label>
        <div className="key-row">
          <input ref={field} id="credential" data-first className="field mono" type="password" autoComplete="off" spellCheck={false} placeholder={`${k.start}…`} value={value} aria-describedby="credential-hint" onChange={(e) => { typedKeysStore.setState({ [kind]: e.target.value }); setTrial(null); }} />
          {busy === "trying" ? <Button onClick={stop}>Stop</Button> : <Button look="primary" type="submit" disabled={busy !== "" || !value.trim()}>Save key</Button>}
        </div>
        <p className="hint" id="credential-hint">{odd ? `This does not begin with ${k.start}; it is tried as it is.` : k.hint}</p>
      </form>
      <div role="status">
        {busy === "trying" && <p className="hint">Asking the model whether it takes the key</p>}
        {told && <KeyTrialLine trial={trial.of} />}
        {trial?.stored && <span className="sr-only">Saved. {trial.of.cause}</span>}
      </div>
      {trial && !trial.stored && trial.of.state === "refused" && value.trim() !== "" && (
        <div className="keys-refused">
          <span className="grow">The key is not saved.</span>
          <Button look="small" disabled={busy !== ""} onClick={() => void save(true)}>Keep it anyway</Button>
        </div>
      )}
      {kind === "claude_code_oauth_token" && <SignIn onDone={load} />}
      <ul className="keys">
        {kept.map((s) => (
          <li key={s.kind}>
            <span className="grow">
              {KINDS[s.kind]?.name ?? visible(s.kind)}: {s.failure ? visible(s.failure.cause) : (PLACES[s.where ?? ""] ?? "kept")}
              {s.in_use && <span className="keys-used state done">in use</span>}
            </span>
            {s.set && <Button look="small" disabled={busy !== ""} aria-label={`${s.trial ? "Try again" : "Try it"}: ${KINDS[s.kind]?.name ?? "key"}`} onClick={() => void again(s.kind)}>{s.trial ? "Try again" : "Try it"}</Button>}
            {s.where === "config" && (
              <Button look="small" disabled={busy !== ""} onClick={() => void work("working", () => session().api.system.adoptCredentials())}>Move out of config.json</Button>
            )}
            {s.set && <Button look="small" disabled={busy !== ""} aria-label={`Remove the ${KINDS[s.kind]?.name ?? "key"}`} onClick={() => void work("working", () => session().api.system.clearCredential(s.kind))}>Remove</Button>}
            {s.trial && <KeyTrialLine trial={s.trial} />}
          </li>
        ))}
      </ul>
      {list[0]?.note && <p className="hint">{visible(list[0].note)}</p>}
      {failure && <FailureCard failure={failure} />}
    </section>
  );
}
