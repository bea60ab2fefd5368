import { useEffect, useState } from "react";
import type { ChannelID, CopyComparison, TrashedCopy } from "../../api/types";
import { holdersList } from "../../model/containers";
import { byteSize } from "../../model/byteSize";
import { plural } from "../../model/format";
import { toast, toastFailure } from "../../model/stores";
import { lossesOf, stateWord } from "../../model/workspace";
import { session } from "../../session/session";
import { Button, Kbd } from "../../ui/Button";
import { keys, MOD } from "../../ui/keys";
import { SafeLine } from "../../ui/SafeText";
import { useCopies } from "./useComparison";

const MOST = 12; // of the losses that are named

type Props = { channelId: ChannelID; c: CopyComparison; at: number; busy: boolean; act(done: string, f: () => Promise<TrashedCopy>): Promise<boolean>; onPromote(): void; compare(): void };

/** Who works in the channel's containers, asked while that matters; empty for nobody. */
function useWorkers(channelId: ChannelID, asked: boolean, at: number): string {
  const [said, setSaid] = useState("");
  useEffect(() => {
    let over = false;
    if (!asked) return;
    session().api.containers.watch().then((w) => {
      const mine = (w.containers ?? []).filter((c) => c.channel_id === channelId && c.type !== "chrome");
      if (!over) setSaid(holdersList(mine.flatMap((c) => c.holders ?? []).filter((h) => h.kind !== "prompt")));
    }, (err: unknown) => !over && toastFailure(err));
    return () => {
      over = true;
    };
  }, [channelId, asked, at]);
  return asked ? said : "";
}

/** Makes the container anew, with the same copy or a fresh one, and says first what would be lost. */
export function RecreateCard({ channelId, c, at, busy, act, onPromote, compare }: Props) {
  const [anew, setAnew] = useState(false);
  const losses = lossesOf(c);
  const workers = useWorkers(channelId, anew, at);
  const run = async () => {
    if (busy) return;
    if (anew) {
      if (await act("The copy is in the trash. The next run gets a fresh one.", () => session().api.workspaces.anew(channelId))) setAnew(false);
      return;
    }
    try {
      const was = await session().api.containers.recreate(channelId);
      toast(was ? "The next run gets a new container." : "There is no container now; the next run makes one.");
    } catch (err) {
      toastFailure(err);
    }
  };
  return (
    <aside className="workspace-aside" aria-label="Recreate the container" onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void run(); } }}>
      <h2>Recreate the container</h2>
      <div className="workspace-choices" role="radiogroup" aria-label="What becomes of the copy">
        <label><input type="radio" name={`copy-${channelId}`} checked={!anew} onChange={() => setAnew(false)} /> <b>Keep the copy</b> <span>New container, same files. Nothing is lost.</span></label>
        <label><input type="radio" name={`copy-${channelId}`} checked={anew} onChange={() => setAnew(true)} /> <b>Start again from the original</b> <span>A fresh copy at the next run.</span></label>
      </div>
      <div className="workspace-buttons">
        {anew && losses.length > 0 && <Button look="small" onClick={onPromote}>Promote first…</Button>}
        <Button look={anew ? "danger" : ""} disabled={busy} onClick={() => void run()}>Recreate <Kbd>{keys(MOD, "↵")}</Kbd></Button>
      </div>
      {workers && <p className="workspace-lost">Held by {workers}. Stop that first; a copy in which something works stays.</p>}
      {anew && (losses.length === 0 ? <p className="workspace-fact">Nothing would be lost: the copy has nothing that the original has not.</p> : (
        <>
          <h3><span className="workspace-lost">This would be lost</span> <span className="tnum workspace-fact">{plural(losses.length, "file")}</span></h3>
          <ul className="workspace-losses">
            {losses.slice(0, MOST).map((d) => <li key={d.path}><span className="mono ellipsis"><SafeLine text={d.path} /></span> <span className="workspace-fact">{d.state === "removed" ? "comes back" : stateWord(d)}</span></li>)}
          </ul>
          {losses.length > MOST && <p className="workspace-fact">and {plural(losses.length - MOST, "more", "more")}</p>}
          <p className="workspace-fact">The old copy stays in the trash for 30 days.</p>
        </>
      ))}
      <Copies channelId={channelId} at={at} act={act} compare={compare} />
    </aside>
  );
}

function Copies({ channelId, at, act, compare }: Pick<Props, "channelId" | "at" | "act" | "compare">) {
  const { left, trash, again } = useCopies(at);
  const others = left.filter((l) => !l.in_use && l.channel_id !== channelId);
  const restore = async (id: string) => {
    try {
      await session().api.workspaces.restore(id);
      toast("It is as it was before.");
    } catch (err) {
      toastFailure(err);
    }
    again();
    compare();
  };
  return (
    <>
      {others.length > 0 && (
        <>
          <h3>Copies left behind <span className="tnum workspace-fact">{byteSize(others.reduce((n, l) => n + l.bytes, 0))}</span></h3>
          <ul className="workspace-losses">
            {others.map((l) => (
              <li key={l.copy}><span className="mono ellipsis" title={l.copy}><SafeLine text={l.copy.split(/[\\/]/).slice(-2).join("/")} /></span> <span className="tnum workspace-fact">{byteSize(l.bytes)}</span>
                <Button look="small" onClick={() => void act("The copy is in the trash.", () => session().api.workspaces.discard(l.copy)).then(again)}>To the trash</Button></li>
            ))}
          </ul>
        </>
      )}
      {trash.length > 0 && (
        <>
          <h3>Trash <span className="workspace-fact">for 30 days</span></h3>
          <ul className="workspace-losses">
            {trash.slice(0, MOST).map((t) => (
              <li key={t.id}><span className="ellipsis" title={t.place}>{t.what === "copy" ? "a whole copy" : `before a ${t.what === "pull" ? "pull" : "promotion"}`}, {plural(t.files, "file")}</span> <span className="tnum workspace-fact">{byteSize(t.bytes)}</span>
                <Button look="small" onClick={() => void restore(t.id)}>Bring back</Button></li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
