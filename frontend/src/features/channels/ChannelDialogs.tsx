import { useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { ChannelView, Failure } from "../../api/types";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { session } from "../../session/session";

type Props = { channel: ChannelView; onClose(): void };

export function useAttempt(onDone: () => void) {
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
        <input id="rename-name" className="field" value={name} maxLength={80} onChange={(e) => setName(e.target.value)} />
        <p className="hint">The folder keeps its name.</p>
        {failure && <FailureCard failure={failure} />}
      </form>
    </Modal>
  );
}

export function RemoveDialog({ channel, onClose }: Props) {
  const { busy, failure, attempt } = useAttempt(onClose);
  const channels = useStore(frameStore, (f) => f.channels);
  const [files, setFiles] = useState(false);
  const below = descendants(channels, channel.channel_id);
  const live = [channel, ...below].some((c) => c.state === "working" || c.queued > 0);
  const tree = below.length > 0 || channel.kind === "worktree" || channel.kind === "thread";
  const remove = () => (tree ? session().api.channels.removeTree(channel.channel_id, files) : session().api.channels.remove(channel.channel_id));
  return (
    <Modal title={`Remove “${visible(channel.name)}”`} onClose={onClose} foot={
      <>
        <Button onClick={onClose} data-first>Keep it</Button>
        <Button look="danger" disabled={busy} onClick={() => void attempt(remove)}>
          {busy ? "Removing" : below.length > 0 ? `Remove all ${below.length + 1}` : "Remove channel"}
        </Button>
      </>
    }>
      {channel.kind === "thread" ? (
        <p>Its timeline is deleted. The folder and the conversations of the project stay.</p>
      ) : (
        <>
          <p>Its timeline and the agent's memory of it are deleted. {files ? "This folder is deleted too:" : "The folder stays as it is:"}</p>
          <p className="mono channel-path selectable">{visible(channel.dir)}</p>
        </>
      )}
      {below.length > 0 && (
        <>
          <p>Its threads and worktrees go with it:</p>
          <ul className="channel-below">
            {below.map((c) => (
              <li key={c.channel_id} className="ellipsis">{visible(c.name)}</li>
            ))}
          </ul>
        </>
      )}
      {[channel, ...below].some((c) => c.kind === "worktree") && (
        <label className="channel-check">
          <input type="checkbox" checked={files} onChange={(e) => setFiles(e.target.checked)} />
          Delete the worktrees' folders too. Loop refuses where changes are not committed; the branches stay.
        </label>
      )}
      {live && <p className="hint">A run is going on or waiting here; it is stopped first.</p>}
      {failure && <FailureCard failure={failure} />}
    </Modal>
  );
}

function descendants(all: ChannelView[], id: string): ChannelView[] {
  const kids = all.filter((c) => c.parent_id === id);
  return kids.flatMap((k) => [k, ...descendants(all, k.channel_id)]);
}
