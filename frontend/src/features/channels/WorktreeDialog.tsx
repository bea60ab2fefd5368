import { useState } from "react";
import type { ChannelView } from "../../api/types";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { newWorktree } from "../../session/branches";
import { useAttempt } from "./ChannelDialogs";

/** Makes a worktree: a branch with a folder of its own, so that two agents do not edit the same files. */
export function WorktreeDialog({ channel, onClose }: { channel: ChannelView; onClose(): void }) {
  const [branch, setBranch] = useState("");
  const [base, setBase] = useState("");
  const { busy, failure, attempt } = useAttempt(onClose);
  const make = () => attempt(() => newWorktree(channel.channel_id, branch.trim(), base.trim()));
  return (
    <Modal title="New worktree" onClose={onClose} foot={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" form="worktree" disabled={busy || !branch.trim()}>{busy ? "Making it" : "Make worktree"}</Button>
      </>
    }>
      <form id="worktree" onSubmit={(e) => { e.preventDefault(); void make(); }}>
        <label className="label" htmlFor="worktree-branch">Branch</label>
        <input id="worktree-branch" className="field" value={branch} maxLength={200} spellCheck={false} autoComplete="off" placeholder="fix-login" onChange={(e) => setBranch(e.target.value)} />
        <p className="hint">A branch that does not exist is made.</p>
        <label className="label" htmlFor="worktree-base">Start from</label>
        <input id="worktree-base" className="field" value={base} maxLength={200} spellCheck={false} autoComplete="off" placeholder="the commit that is checked out now" onChange={(e) => setBase(e.target.value)} />
        <p className="hint">
          The folder is made in <span className="mono">{visible(channel.parent_dir || channel.dir)}/.worktrees</span>; git works inside a container. The agent takes a copy of this conversation along.
        </p>
        {failure && <FailureCard failure={failure} />}
      </form>
    </Modal>
  );
}
