import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure, PrunedContainer } from "../../api/types";
import type { ContainerRow } from "../../model/containers";
import { holdersList, lossOf } from "../../model/containers";
import { plural } from "../../model/format";
import { session } from "../../session/session";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { prune, recreate, remove, stop } from "./actions";

export type Asked = "" | "recreate" | "stop" | "remove" | "clean";

/** Asks before something of a container ends, and names what ends with it. */
export function Question({ asked, r, onClose }: { asked: Exclude<Asked, "" | "clean">; r: ContainerRow; onClose(): void }) {
  const { c } = r;
  const holders = c.holders ?? [];
  const held = holders.length > 0;
  const who = holdersList(holders);
  const works = holders.some((h) => ["run", "set-up"].includes(h.kind)); // Loop waits for git
  const ask = {
    recreate: {
      title: "Recreate the container?", verb: "Recreate", danger: false,
      text: held ? `${sentence(who)} ${holders.length === 1 ? "goes" : "go"} on in it until the end. Nothing new starts in it, and the next run or terminal gets a new one.` : "The next run or terminal gets a new one, made by the settings of now.",
      loss: lossOf(c), run: () => recreate(c),
    },
    stop: {
      title: "Stop the container?", verb: "Stop", danger: false,
      text: works ? `${sentence(who)} still ${holders.length === 1 ? "works" : "work"} in it. Stop the run first.` : held ? `This ends ${who}, and all that runs in it.` : "This ends all that runs in it. The next run or terminal starts it again.",
      loss: works ? "" : "Its files stay. What lies in memory, such as /tmp, is lost.", run: () => stop(c),
    },
    remove: {
      title: "Remove the container?", verb: held ? "End and remove" : "Remove", danger: true,
      text: held ? `This ends ${who}, and all that runs in it.` : "Nobody holds it. The next run or terminal gets a new one.",
      loss: lossOf(c), run: () => remove(c, held),
    },
  }[asked];
  const refused = asked === "stop" && works;
  return (
    <Modal
      title={ask.title} onClose={onClose}
      foot={
        <>
          <Button data-first onClick={onClose}>{refused ? "Close" : "Keep it"}</Button>
          {!refused && <Button look={ask.danger ? "danger" : "primary"} onClick={() => { onClose(); void ask.run(); }}>{ask.verb}</Button>}
        </>
      }
    >
      <p className="mono"><SafeText text={c.container_name} /></p>
      <p>{ask.text}</p>
      {ask.loss && <p className="hint">{ask.loss}</p>}
    </Modal>
  );
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Shows which containers would go, and why each, before they do. */
export function CleanUp({ onClose }: { onClose(): void }) {
  const [list, setList] = useState<PrunedContainer[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    let over = false;
    session().api.containers.prune(true, null).then((l) => !over && setList(l ?? []), (err) => !over && setFailure(toFailure(err)));
    return () => {
      over = true;
    };
  }, []);
  const some = list !== null && list.length > 0;
  return (
    <Modal
      title="Clean up containers" scrolls={some} onClose={onClose}
      foot={
        <>
          <Button {...(some ? {} : { "data-first": true })} onClick={onClose}>{some ? "Keep them" : "Close"}</Button>
          {some && <Button look="danger" onClick={() => { onClose(); void prune(list); }}>Remove {list.length}</Button>}
        </>
      }
    >
      {failure && <FailureCard failure={failure} />}
      {!failure && list === null && <div className="skeleton" aria-hidden="true" />}
      {list?.length === 0 && <p>There is nothing to clean up. What somebody holds, and what stays warm for the next run, is kept.</p>}
      {some && (
        <>
          <p>{plural(list.length, "container")} that nobody holds would be removed:</p>
          <ul className="containers-clean">
            {list.map((p) => <li key={p.container_id}><span className="mono"><SafeText text={p.container_name} /></span> <span className="hint">it <SafeText text={p.why} /></span></li>)}
          </ul>
        </>
      )}
    </Modal>
  );
}
