import { Tabs } from "radix-ui";
import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { SettingsView } from "../../api/types";
import { frameStore, viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { openDialog } from "../../session/actions";
import { session } from "../../session/session";
import type { Editing, Scope } from "./editing";
import { FieldsPanel } from "./FieldsPanel";
import { KeysPanel } from "./KeysPanel";
import { HistoryPanel } from "./HistoryPanel";
import { Look } from "./Look";
import { ModelAccess } from "./ModelAccess";
import { Problems } from "./Problems";
import { RawPanel } from "./RawPanel";
import { TrustCard } from "./TrustCard";
import "./settings.css";

const SCOPES: Record<Scope, string> = { global: "All projects", project: "This project", worktree: "This worktree" };

export function SettingsDialog({ onClose }: { onClose(): void }) {
  const asked = useStore(viewStore, (v) => v.dialogChannel || v.selected);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === asked));
  const id = channel && channel.kind !== "demo" ? channel.channel_id : "";
  const changed = useStore(frameStore, (f) => f.config);
  const [view, setView] = useState<SettingsView | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [scope, setScope] = useState<Scope>("global");

  const take = useCallback(
    (v: SettingsView) => {
      setView(v);
      setFailure(null);
      if ((v.pending ?? []).length === 0) frameStore.setState((f) => ({ trust: Object.fromEntries(Object.entries(f.trust).filter(([ch]) => ch !== id)) }));
    },
    [id],
  );
  const load = useCallback(() => {
    session().api.settings.get(id).then(take, (err: unknown) => setFailure(toFailure(err)));
  }, [id, take]);
  useEffect(load, [load, changed]);

  const scopes: Scope[] = view ? ["global", ...(view.project_path ? (["project"] as const) : []), ...(view.worktree_path ? (["worktree"] as const) : [])] : ["global"];
  const editing: Editing | null = view ? { view, scope: scopes.includes(scope) ? scope : "global", channel: id, onChange: take } : null;
  const pending = view?.pending ?? [];

  return (
    <Modal title={channel && id ? `Settings of “${visible(channel.name)}”` : "Settings"} wide className="settings" onClose={onClose} description="Model access, look, and every setting of Loop and its projects">
      {pending.map((p) => (
        <TrustCard key={p.sha256} pending={p} channel={id} onChange={take} />
      ))}
      <Tabs.Root defaultValue="general" className="settings-tabs">
        <div className="settings-bar">
          <Tabs.List className="segments" aria-label="Parts of the settings">
            <Tabs.Trigger value="general" className="segment">General</Tabs.Trigger>
            <Tabs.Trigger value="keys" className="segment">Keys</Tabs.Trigger>
            <Tabs.Trigger value="fields" className="segment">All settings</Tabs.Trigger>
            <Tabs.Trigger value="raw" className="segment">File</Tabs.Trigger>
            <Tabs.Trigger value="history" className="segment">History</Tabs.Trigger>
          </Tabs.List>
          {scopes.length > 1 && (
            <label className="scope">
              <span className="label">Changes go to</span>
              <select className="field" value={editing?.scope} onChange={(e) => setScope(e.target.value as Scope)}>
                {scopes.map((s) => (
                  <option key={s} value={s}>{SCOPES[s]}</option>
                ))}
              </select>
            </label>
          )}
        </div>
        <Tabs.Content value="general">
          <ModelAccess />
          <Look />
          <section className="setting">
            <h3>Themes</h3>
            <p className="hint first">Colours of VS Code, Windows Terminal and iTerm2 can be imported.</p>
            <Button onClick={() => openDialog("themes")}>Themes…</Button>
          </section>
          <section className="setting">
            <h3>Your Claude set-up</h3>
            <p className="hint first">Your own CLAUDE.md, skills, agents and settings come into containers only if you say so.</p>
            <Button onClick={() => openDialog("setup")}>Show what there is…</Button>
          </section>
          <section className="setting">
            <h3>Files</h3>
            <Problems view={view} />
          </section>
        </Tabs.Content>
        <Tabs.Content value="keys"><KeysPanel /></Tabs.Content>
        {failure && (
          <FailureCard failure={failure}>
            <Button look="small" onClick={load}>Load again</Button>
          </FailureCard>
        )}
        <Tabs.Content value="fields">{editing ? <FieldsPanel editing={editing} /> : <div className="skeleton settings-skeleton" aria-hidden="true" />}</Tabs.Content>
        <Tabs.Content value="raw">{editing && <RawPanel key={editing.scope} editing={editing} />}</Tabs.Content>
        <Tabs.Content value="history">{editing && <HistoryPanel key={editing.scope} editing={editing} />}</Tabs.Content>
      </Tabs.Root>
    </Modal>
  );
}
