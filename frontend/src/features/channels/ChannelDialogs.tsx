import { useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelView, Failure } from "../../api/types";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { session } from "../frame/session";

type Props = { channel: ChannelView; onClose(): void };

function useAttempt(onDone: () => void) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  async function attempt(f: () => Promise<unknown>) {
    setBusy(true);
    setFailure(null);
    try {
      await f();
      onDone();
    } catch (err) {
      setFailure(toFailure(err));
    } finally {
      setBusy(false);
    }
  }
  return { busy, failure, attempt };
}

export function RenameDialog({ channel, onClose }: Props) {
  const [name, setName] = useState(channel.name);
  const { busy, failure, attempt } = useAttempt(onClose);
  const save = () =>
    attempt(async () => {
      await session().api.channels.rename(channel.channel_id, name.trim());
      frameStore.setState((f) => ({ channels: f.channels.map((c) => (c.channel_id === channel.channel_id ? { ...c, name: name.trim() } : c)) }));
    });
  return (
    <Modal title="Rename channel" onClose={onClose} foot={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" form="rename" disabled={busy || !name.trim()}>Rename</Button>
      </>
    }>
      <form id="rename" onSubmit={(e) => { e.preventDefault(); void save(); }}>
        <label className="label" htmlFor="rename-name">Name</label>
        <input id="rename-name" className="field" value={name} maxLength={80} autoFocus onFocus={(e) => e.target.select()} onChange={(e) => setName(e.target.value)} />
        <p className="hint">The folder keeps its name.</p>
        {failure && <FailureCard failure={failure} />}
      </form>
    </Modal>
  );
}

export function RemoveDialog({ channel, onClose }: Props) {
  const { busy, failure, attempt } = useAttempt(onClose);
  const live = channel.state === "working" || channel.queued > 0;
  return (
    <Modal title={`Remove “${visible(channel.name)}”`} onClose={onClose} foot={
      <>
        <Button onClick={onClose} autoFocus>Keep it</Button>
        <Button look="danger" disabled={busy} onClick={() => void attempt(() => session().api.channels.remove(channel.channel_id))}>
          {busy ? "Removing" : "Remove channel"}
        </Button>
      </>
    }>
      <p>Its timeline and the agent's memory of it are deleted. The folder stays as it is:</p>
      <p className="mono path selectable">{visible(channel.dir)}</p>
      {live && <p className="hint">A run is going on or waiting here; it is stopped first.</p>}
      {failure && <FailureCard failure={failure} />}
    </Modal>
  );
}
