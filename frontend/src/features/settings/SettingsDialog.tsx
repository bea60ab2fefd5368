import { Bell, Bot, Boxes, Braces, FileBox, FolderOpen, Globe, History, Keyboard, KeyRound, Network, Package, Palette, ShieldCheck, SquareTerminal, Wrench } from "lucide-react";
import { Tabs } from "radix-ui";
import type { ComponentType, KeyboardEvent } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure, SettingsView } from "../../api/types";
import { isChanged } from "../../model/settings";
import { draftedFields, draftPlace, settingsDraftsStore } from "../../model/settings-drafts";
import type { Scope } from "../../model/settings-drafts";
import { searchFields } from "../../model/settings-search";
import { frameStore, viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { FilterChip } from "../../ui/FilterChip";
import { Modal } from "../../ui/Modal";
import { session } from "../../session/session";
import type { Editing } from "./editing";
import { SCOPES } from "./editing";
import { FieldList } from "./FieldList";
import { KeysPanel } from "./KeysPanel";
import { ModelAccess } from "./ModelAccess";
import { HistoryPanel } from "./HistoryPanel";
import { Problems } from "./Problems";
import { RawPanel } from "./RawPanel";
import { TrustCard } from "./TrustCard";
import "./settings.css";

type Icon = ComponentType<{ size?: number }>;
const ICONS: Record<string, Icon> = {
  access: KeyRound, agents: Bot, containers: Boxes, files: FolderOpen, network: Network, gate: ShieldCheck, browser: Globe, terminals: SquareTerminal,
  look: Palette, notifications: Bell, image: Package, sandbox: FileBox, loop: Wrench,
};

/** Parts that are not made of fields, below the groups. A group that is not known stands above them with an icon of its own. */
const PARTS: { id: string; name: string; icon: Icon; panel: ComponentType<{ editing: Editing }> }[] = [
  { id: "keys", name: "Keys", icon: Keyboard, panel: KeysPanel },
  { id: "raw", name: "File", icon: Braces, panel: RawPanel },
  { id: "history", name: "History", icon: History, panel: HistoryPanel },
];

/** The part that is there before the settings are, so that a key can be typed at once. */
const FIRST = [{ id: "access", name: "Model access" }];

type Show = "all" | "changed" | "unsaved";

export function SettingsDialog({ onClose }: { onClose(): void }) {
  const asked = useStore(viewStore, (v) => v.dialogChannel || v.selected);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === asked));
  const id = channel && channel.kind !== "demo" ? channel.channel_id : "";
  const changed = useStore(frameStore, (f) => f.config);
  const drafts = useStore(settingsDraftsStore);
  const [view, setView] = useState<SettingsView | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [chosen, setChosen] = useState<Scope>("global");
  const [part, setPart] = useState("access");
  const [query, setQuery] = useState("");
  const [show, setShow] = useState<Show>("all");
  const search = useRef<HTMLInputElement>(null);

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
  const scope = scopes.includes(chosen) ? chosen : "global";
  const editing: Editing | null = view ? { view, scope, channel: id, onChange: take } : null;
  const groups = useMemo(() => view?.groups ?? FIRST, [view]);
  const names = useMemo(() => new Map(groups.map((g) => [g.id, g.name])), [groups]);
  const unsaved = draftedFields(drafts, scope, id);
  const rawUnsaved = drafts.raw[draftPlace(scope, id)] !== undefined;
  const all = view?.fields ?? [];
  const filter = show === "unsaved" && unsaved.size === 0 ? "all" : show;
  const passing = all.filter((f) => filter === "all" || (filter === "changed" ? isChanged(f) : unsaved.has(f.name)));
  const found = query.trim() ? searchFields(passing, groups, query) : passing;
  const searching = query.trim() !== "" || filter !== "all";
  const items = [...groups.map((g) => ({ ...g, icon: ICONS[g.id] ?? Wrench })), ...PARTS];
  const count = (group: string) => (searching ? found : all.filter((f) => unsaved.has(f.name))).filter((f) => f.group === group).length;
  const go = (to: string) => {
    setPart(to);
    setQuery("");
    setShow("all");
  };
  /** A slash outside of a text goes to the search. */
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches("textarea, select, input:not([type=checkbox],[type=radio])")) return;
    e.preventDefault();
    search.current?.focus();
  };

  return (
    <Modal title={channel && id ? `Settings of “${visible(channel.name)}”` : "Settings"} wide className="settings" onClose={onClose} description="Model access, look, and every setting of Loop and its projects">
      {(view?.pending ?? []).map((p) => (
        <TrustCard key={p.path} pending={p} channel={id} onChange={take} />
      ))}
      <Tabs.Root className="settings-parts" orientation="vertical" activationMode={searching ? "manual" : "automatic"} value={searching ? "" : part} onValueChange={go} onKeyDown={onKeyDown}>
        <Tabs.List className="settings-nav" aria-label="Parts of the settings">
          {items.map(({ id: to, name, icon: I }) => {
            const n = count(to) || (to === "raw" && rawUnsaved ? 1 : 0);
            return (
              <Tabs.Trigger key={to} value={to} className="settings-item">
                <I size={14} aria-hidden />
                <span className="grow ellipsis">{name}</span>
                {n > 0 && <span className="settings-count" title={searching ? `${n} found` : `${n} not saved`}>{n}<span className="sr-only">{searching ? " found" : " not saved"}</span></span>}
              </Tabs.Trigger>
            );
          })}
        </Tabs.List>
        <div className="settings-main">
          <div className="settings-bar">
            <select className="field settings-pick" aria-label="Part of the settings" value={searching ? "" : part} onChange={(e) => go(e.target.value)}>
              {searching && <option value="">Found</option>}
              {items.map((i) => <option key={i.id} value={i.id}>{i.name}</option>)}
            </select>
            <span className="settings-find">
              <input ref={search} className="field" type="search" placeholder="Search by name or meaning" aria-label="Search settings" value={query} onChange={(e) => setQuery(e.target.value)} {...(query ? { "data-escape": "" } : {})} onKeyDown={(e) => { if (e.key === "Escape" && query) setQuery(""); }} />
              {!query && <Kbd>/</Kbd>}
            </span>
            <span className="settings-filters">
              <FilterChip on={filter === "changed"} onChoose={() => setShow(filter === "changed" ? "all" : "changed")}>{`Changed ${all.filter(isChanged).length}`}</FilterChip>
              {unsaved.size > 0 && <FilterChip on={filter === "unsaved"} onChoose={() => setShow(filter === "unsaved" ? "all" : "unsaved")}>{`Not saved ${unsaved.size}`}</FilterChip>}
            </span>
            {scopes.length > 1 && (
              <label className="scope">
                <span className="label">Save to</span>
                <select className="field" value={scope} onChange={(e) => setChosen(e.target.value as Scope)}>
                  {scopes.map((s) => (
                    <option key={s} value={s}>{SCOPES[s]}</option>
                  ))}
                </select>
              </label>
            )}
          </div>
          <div className="settings-body">
            {failure && (
              <FailureCard failure={failure}>
                <Button look="small" onClick={load}>Load again</Button>
              </FailureCard>
            )}
            {!view && !failure && <div className="skeleton settings-skeleton" aria-hidden="true" />}
            {editing && searching && (
              <section aria-label="Found settings">
                <p className="sr-only" role="status">{`${found.length} found`}</p>
                {found.length > 0 ? <FieldList fields={found} editing={editing} groups={names} /> : <Nothing query={query} changed={filter === "changed"} onAll={() => { setQuery(""); setShow("all"); }} />}
              </section>
            )}
            {groups.map((g) => (
              <Tabs.Content key={g.id} value={g.id} tabIndex={-1}>
                <h3 className="settings-heading">{g.name}</h3>
                {g.id === "access" && scope === "global" && <ModelAccess />}
                {editing && <FieldList fields={all.filter((f) => f.group === g.id && !(g.id === "access" && f.secret && scope === "global"))} editing={editing} />}
                {g.id === "loop" && <Problems view={view} />}
              </Tabs.Content>
            ))}
            {PARTS.map(({ id: p, name, panel: P }) => (
              <Tabs.Content key={p} value={p} tabIndex={-1}>
                <h3 className="settings-heading">{name}</h3>
                {editing && <P key={`${editing.scope}/${id}`} editing={editing} />}
              </Tabs.Content>
            ))}
          </div>
        </div>
      </Tabs.Root>
    </Modal>
  );
}

function Nothing({ query, changed, onAll }: { query: string; changed: boolean; onAll(): void }) {
  return (
    <div className="settings-nothing">
      <p>{query.trim() ? <>No setting {changed ? "that you changed " : ""}fits “{visible(query.trim())}”.</> : "Nothing is changed: every setting has the value that Loop ships with."}</p>
      <p className="hint">Try one plain word for what it does, like “memory”, “proxy” or “sound”.</p>
      <Button look="small" onClick={onAll}>Show all settings</Button>
    </div>
  );
}
