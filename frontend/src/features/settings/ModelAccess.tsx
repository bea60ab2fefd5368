import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { CredentialKind, Failure } from "../../api/types";
import type { CredentialStatus } from "../../api/types";
import { doctorStore, frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";

const KINDS: Record<CredentialKind, { name: string; hint: string; start: string }> = {
  anthropic_api_key: { name: "API key", hint: "From the Anthropic console; it begins with sk-ant-api.", start: "sk-ant-" },
  claude_code_oauth_token: { name: "Claude Code token", hint: "From “claude setup-token”, for a Claude subscription; it begins with sk-ant-oat.", start: "sk-ant-oat" },
};
const PLACES: Record<string, string> = { config: "in config.json", keyring: "in the system's keyring", file: "in an encrypted file of Loop's folder" };

/** The key of the model: its place, a field for a new one, and a button that removes it. */
export function ModelAccess() {
  const config = useStore(frameStore, (f) => f.config);
  const [kind, setKind] = useState<CredentialKind>(config?.credential_kind === "claude_code_oauth_token" ? "claude_code_oauth_token" : "anthropic_api_key");
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [saved, setSaved] = useState(false);
  const [list, setList] = useState<CredentialStatus[]>([]);
  const load = useCallback(() => {
    session().api.system.credentials().then((l) => setList(l ?? []), (err: unknown) => setFailure(toFailure(err)));
  }, []);
  useEffect(load, [load, config]);
  const k = KINDS[kind];
  const odd = value.trim() !== "" && !value.trim().startsWith(k.start);

  async function change(what: () => Promise<NonNullable<typeof config>>, after: () => void = () => {}) {
    setBusy(true);
    setFailure(null);
    try {
      frameStore.setState({ config: await what() });
      doctorStore.setState({ phase: "none" });
      after();
      load();
    } catch (err) {
      setFailure(toFailure(err));
    } finally {
      setBusy(false);
    }
  }

  const save = () =>
    change(() => session().api.system.setCredential(kind, value.trim()), () => {
      setValue("");
      setSaved(true);
    });

  return (
    <section className="setting">
      <h3>Model access</h3>
      <p className="hint first">
        {config?.has_credentials ? "A key is never shown again; a new one replaces it." : "No key yet. The demo channel works without one."}
      </p>
      <form onSubmit={(e) => { e.preventDefault(); void save(); }}>
        <div className="segments" role="radiogroup" aria-label="Kind">
          {(Object.keys(KINDS) as CredentialKind[]).map((id) => (
            <label key={id} className={kind === id ? "on" : ""}>
              <input type="radio" name="kind" value={id} checked={kind === id} onChange={() => { setKind(id); setSaved(false); }} />
              {KINDS[id].name}
            </label>
          ))}
        </div>
        <label className="sr-only" htmlFor="credential">{k.name}</label>
        <div className="key-row">
          <input id="credential" className="field mono" type="password" autoComplete="off" spellCheck={false} placeholder={`${k.start}…`} value={value} aria-describedby="credential-hint" onChange={(e) => { setValue(e.target.value); setSaved(false); }} />
          <Button look="primary" type="submit" disabled={busy || !value.trim()}>{busy ? "Saving" : "Save key"}</Button>
        </div>
        <p className="hint" id="credential-hint" role="status">
          {saved ? "Saved." : odd ? `This does not begin with ${k.start}; it is saved as it is.` : k.hint}
        </p>
      </form>
      <ul className="keys">
        {list.filter((s) => s.set || s.failure).map((s) => (
          <li key={s.kind}>
            <span className="grow">
              {KINDS[s.kind]?.name ?? visible(s.kind)}: {s.failure ? visible(s.failure.cause) : (PLACES[s.where ?? ""] ?? "kept")}
              {s.in_use && <span className="keys-used state done">in use</span>}
            </span>
            {s.where === "config" && (
              <Button look="small" disabled={busy} onClick={() => void change(() => session().api.system.adoptCredentials())}>Move out of config.json</Button>
            )}
            {s.set && <Button look="small" disabled={busy} aria-label={`Remove the ${KINDS[s.kind]?.name ?? "key"}`} onClick={() => void change(() => session().api.system.clearCredential(s.kind))}>Remove</Button>}
          </li>
        ))}
      </ul>
      {list[0]?.note && <p className="hint">{visible(list[0].note)}</p>}
      {failure && <FailureCard failure={failure} />}
    </section>
  );
}

