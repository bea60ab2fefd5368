import { useEffect, useState } from "react";
import type { AgentChoice, ChannelView } from "../../api/types";
import { EFFORTS, modelChoices } from "../../model/models";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { Combobox } from "../../ui/Combobox";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { session } from "../../session/session";
import { rememberModel, typedModels } from "../../session/settings";
import { useAttempt } from "./ChannelDialogs";

/** What is chosen for one channel alone, over the settings: its agent, model, effort and further folders. */
export function ChoicesDialog({ channel, onClose }: { channel: ChannelView; onClose(): void }) {
  const chosen = channel.choices ?? {};
  const [agents, setAgents] = useState<AgentChoice[]>([]);
  const [agent, setAgent] = useState(chosen.agent_id ?? "");
  const [model, setModel] = useState(chosen.model ?? "");
  const [effort, setEffort] = useState(chosen.effort ?? "");
  const [setup, setSetup] = useState(chosen.claude_setup ?? "");
  const [notify, setNotify] = useState(chosen.notify ?? "");
  const [dirs, setDirs] = useState((chosen.extra_dirs ?? []).join("\n"));
  const { busy, failure, attempt } = useAttempt(onClose);
  useEffect(() => {
    let here = true;
    session().api.channels.agents().then((list) => here && setAgents(list ?? []), () => undefined);
    return () => {
      here = false;
    };
  }, []);
  const save = () =>
    attempt(async () => {
      const folders = dirs.split("\n").map((d) => d.trim()).filter(Boolean);
      const made = await session().api.channels.choose(channel.channel_id, { agent_id: agent, model: model.trim(), effort, extra_dirs: folders, claude_setup: setup, notify });
      rememberModel(model.trim());
      frameStore.setState((f) => ({ channels: f.channels.map((c) => (c.channel_id === channel.channel_id ? { ...c, choices: made.choices } : c)) as ChannelView[] }));
    });
  const models = modelChoices(typedModels()).map((m) => ({ label: m.name, says: m.says }));
  const thread = channel.kind === "thread";
  const known = agent === "" || agents.some((a) => a.id === agent);
  return (
    <Modal title={`Choices for “${visible(channel.name)}”`} onClose={onClose} foot={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" form="choices" disabled={busy}>{busy ? "Saving" : "Save"}</Button>
      </>
    }>
      <form id="choices" onSubmit={(e) => { e.preventDefault(); void save(); }}>
        <p className="hint">They count for this channel alone, from its next run on. What is left empty is as the settings have it.</p>
        <label className="label" htmlFor="choices-model">Model</label>
        <Combobox id="choices-model" name="Model" value={model} options={models} placeholder="as the settings have it" onText={setModel} onChoose={setModel} />
        <label className="label" htmlFor="choices-effort">Effort</label>
        <select id="choices-effort" className="field" value={effort} onChange={(e) => setEffort(e.target.value)}>
          <option value="">as the settings have it</option>
          {EFFORTS.map((e) => <option key={e} value={e}>{e}</option>)}
        </select>
        {(agents.length > 1 || agent !== "") && (
          <>
            <label className="label" htmlFor="choices-agent">Agent</label>
            <select id="choices-agent" className="field" value={agent} disabled={thread} onChange={(e) => setAgent(e.target.value)}>
              <option value="">{agents[0] ? `the default one (${agents[0].name || agents[0].id})` : "the default one"}</option>
              {!known && <option value={agent}>{agent} (not in the settings)</option>}
              {agents.map((a) => <option key={a.id} value={a.id}>{visible(a.name || a.id)}</option>)}
            </select>
            <p className="hint">{thread ? "A thread belongs to its parent's agent." : "Its threads belong to it, too. The container is made by what the settings say of the agent."}</p>
          </>
        )}
        <label className="label" htmlFor="choices-setup">Your Claude set-up</label>
        <select id="choices-setup" className="field" value={setup} disabled={thread} onChange={(e) => setSetup(e.target.value)}>
          <option value="">as the settings have it</option>
          <option value="read">copies</option>
          <option value="none">nothing</option>
        </select>
        {thread && <p className="hint">A thread has what its parent has.</p>}
        <label className="label" htmlFor="choices-notify">Notifications</label>
        <select id="choices-notify" className="field" value={notify} onChange={(e) => setNotify(e.target.value)}>
          <option value="">as the settings have it</option>
          <option value="all">needs you, failed and done</option>
          <option value="problems">needs you and failed</option>
          <option value="needs_you">needs you</option>
          <option value="never">none</option>
        </select>
        <p className="hint">The desktop shows them while you do not look at this window. Looking at the channel takes them away.</p>
        <label className="label" htmlFor="choices-dirs">Further folders</label>
        <textarea id="choices-dirs" className="field mono channel-dirs" rows={3} value={dirs} spellCheck={false} placeholder="one full path in each line" onChange={(e) => setDirs(e.target.value)} />
        <p className="hint">The agent may work in them. A channel with folders of its own has a container of its own.</p>
        {failure && <FailureCard failure={failure} />}
      </form>
    </Modal>
  );
}
