import { FileWarning } from "lucide-react";
import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { BranchList, ChannelView, Failure } from "../../api/types";
import { placeOf, staysBehind } from "../../model/branchlist";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeLine } from "../../ui/SafeText";
import { newWorktree } from "../../session/branches";
import { session } from "../../session/session";
import { BranchField } from "./BranchField";
import { useAttempt } from "./ChannelDialogs";
import "./branch.css";

/** Makes a worktree: a branch with a folder of its own, so that two agents do not edit the same files. */
export function WorktreeDialog({ channel, onClose }: { channel: ChannelView; onClose(): void }) {
  const [branch, setBranch] = useState("");
  const [base, setBase] = useState("");
  const [list, setList] = useState<BranchList | null>(null);
  const [unread, setUnread] = useState<Failure | null>(null);
  const { busy, failure, attempt } = useAttempt(onClose);
  const id = channel.channel_id;
  useEffect(() => {
    let over = false;
    session().api.channels.branches(id).then((l) => !over && setList(l), (err: unknown) => !over && setUnread(toFailure(err)));
    return () => {
      over = true;
    };
  }, [id]);
  const all = list?.branches ?? [];
  const known = all.find((b) => b.name === branch.trim());
  const behind = staysBehind(list);
  const make = () => attempt(() => newWorktree(id, branch.trim(), known ? "" : base.trim()));
  return (
    <Modal title="New worktree" onClose={onClose} foot={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" form="worktree" disabled={busy || !branch.trim() || Boolean(known?.where)}>{busy ? "Making it" : "Make worktree"}</Button>
      </>
    }>
      <form id="worktree" onSubmit={(e) => { e.preventDefault(); if (!known?.where) void make(); }}>
        <BranchField id="worktree-branch" label="Branch" value={branch} placeholder="fix-login" branches={all} free onChange={setBranch}
          hint={known?.where ? `This branch is checked out already, ${known.current ? "in this folder" : placeOf(known)}. Choose another one.` : known ? "This branch is there already, and is gone on with." : "A branch that does not exist is made."} />
        {!known && <BranchField id="worktree-base" label="Start from" value={base} placeholder={all.find((b) => b.current)?.name ?? "the commit that is checked out now"} branches={all} free={false} onChange={setBase}
          hint="A branch, a tag or a commit; empty is what is checked out now." />}
        <p className="hint">
          The folder is made in <span className="mono">{visible(channel.parent_dir || channel.dir)}/.worktrees</span>; git works inside a container. The agent takes a copy of this conversation along.
        </p>
        <div role="status">
          {!list && !unread && <p className="hint">Reading the branches.</p>}
          {behind && <p className="branch-behind"><FileWarning size={14} aria-hidden /> <span><SafeLine text={behind} /></span></p>}
          {unread && <p className="hint"><SafeLine text={`The branches could not be listed. ${unread.cause} ${unread.remedy ?? ""}`} /></p>}
        </div>
        {failure && <FailureCard failure={failure} />}
      </form>
    </Modal>
  );
}
