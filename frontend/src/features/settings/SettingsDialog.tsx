import { FileWarning } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { CredentialKind, Failure } from "../../api/types";
import { doctorStore, frameStore, viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { setContrast, setTheme } from "../frame/actions";
import { session } from "../frame/session";
import "./settings.css";

const THEMES = [["system", "Like the system"], ["dark", "Dark"], ["light", "Light"]] as const;
const KINDS: Record<CredentialKind, { name: string; hint: string; start: string }> = {
  anthropic_api_key: { name: "API key", hint: "From the Anthropic console; it begins with sk-ant-api.", start: "sk-ant-" },
  claude_code_oauth_token: { name: "Claude Code token", hint: "From “claude setup-token”, for a Claude subscription; it begins with sk-ant-oat.", start: "sk-ant-oat" },
};

export function SettingsDialog({ onClose }: { onClose(): void }) {
  const config = useStore(frameStore, (f) => f.config);
  const problems = config?.problems ?? [];
  return (
    <Modal title="Settings" onClose={onClose} description="Model access, look, and the configuration file">
      <ModelAccess />
      <Look />
      <section className="setting">
        <h3>Configuration file</h3>
        <p className="setting-path">
          <span className="mono selectable">{config?.path ?? ""}</span>
          {config && <CopyIcon text={config.path} name="Copy the path" />}
        </p>
        {problems.length === 0 ? (
          <p className="hint">Read without problems.</p>
        ) : (
          <ul className="problems selectable">
            {problems.map((p) => (
              <li key={`${p.line}:${p.col}:${p.field}`}>
                <FileWarning size={14} aria-hidden />
                <div>
                  <p>
                    <span className="mono">{p.line > 0 ? `${p.line}:${p.col} ` : ""}{visible(p.field)}</span> <SafeText text={p.message} />
                  </p>
                  {p.remedy && <p className="muted"><SafeText text={p.remedy} /></p>}
                </div>
              </li>
            ))}
          </ul>
        )}
      </section>
    </Modal>
  );
}

function ModelAccess() {
  const config = useStore(frameStore, (f) => f.config);
  const [kind, setKind] = useState<CredentialKind>(config?.credential_kind === "claude_code_oauth_token" ? "claude_code_oauth_token" : "anthropic_api_key");
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [saved, setSaved] = useState(false);
  const k = KINDS[kind];
  const odd = value.trim() !== "" && !value.trim().startsWith(k.start);

  async function save() {
    setBusy(true);
    setFailure(null);
    try {
      const status = await session().api.system.setCredential(kind, value.trim());
      frameStore.setState({ config: status });
      doctorStore.setState({ phase: "none" });
      setValue("");
      setSaved(true);
    } catch (err) {
      setFailure(toFailure(err));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="setting">
      <h3>Model access</h3>
      <p className="hint first">
        {config?.has_credentials ? `Set: ${KINDS[config.credential_kind as CredentialKind]?.name ?? "a key"}. It is never shown again; a new one replaces it.` : "Not set. The demo channel works without."}
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
      {failure && <FailureCard failure={failure} />}
    </section>
  );
}

function Look() {
  const theme = useStore(viewStore, (v) => v.theme);
  const contrast = useStore(viewStore, (v) => v.contrast);
  return (
    <section className="setting">
      <h3>Look</h3>
      <div className="segments" role="radiogroup" aria-label="Theme">
        {THEMES.map(([id, name]) => (
          <label key={id} className={theme === id ? "on" : ""}>
            <input type="radio" name="theme" value={id} checked={theme === id} onChange={() => void setTheme(id)} />
            {name}
          </label>
        ))}
      </div>
      <label className="tick-box">
        <input type="checkbox" checked={contrast === "more"} onChange={(e) => setContrast(e.target.checked ? "more" : "")} />
        More contrast
      </label>
    </section>
  );
}
