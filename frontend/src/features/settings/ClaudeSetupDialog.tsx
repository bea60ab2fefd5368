import { useCallback, useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ClaudeSetupView, Failure, SetupAsk } from "../../api/types";
import { grantWords, setupEmpty, setupGroups } from "../../model/claude-setup";
import { plural } from "../../model/format";
import { toast } from "../../model/stores";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { answerSetup, readSetup } from "../../session/claude-setup";
import "./claude-setup.css";

/** Shows what agents would get of the person's own Claude set-up, and stores what the person says to it. */
export function ClaudeSetupDialog({ onClose }: { onClose(): void }) {
  const [view, setView] = useState<ClaudeSetupView | null>(null);
  const [ticked, setTicked] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    setFailure(null);
    readSetup().then((v) => {
      setView(v);
      setTicked((v.setup.asks ?? []).filter((a) => a.allowed).map((a) => a.id));
    }, (err: unknown) => setFailure(toFailure(err)));
  }, []);
  useEffect(load, [load]);

  async function answer(allow: string[] | null) {
    setBusy(true);
    setFailure(null);
    try {
      await answerSetup(allow);
      toast(allow ? "Agents get copies from their next run on." : "Agents have nothing of it from their next run on.");
      onClose();
    } catch (err) {
      setFailure(toFailure(err));
      setBusy(false);
    }
  }

  const empty = view !== null && setupEmpty(view);
  const tick = (id: string, on: boolean) => setTicked((all) => (on ? [...all, id] : all.filter((x) => x !== id)));
  return (
    <Modal title="Your Claude set-up" wide scrolls className="claude-setup" onClose={onClose} description="What of your own Claude Code set-up agents may have copies of" foot={
      !view || empty ? <Button onClick={onClose}>Close</Button> : (
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={busy} onClick={() => void answer(null)}>Use nothing of it</Button>
          <Button look="primary" disabled={busy} onClick={() => void answer(ticked)}>Let agents have copies</Button>
        </>
      )
    }>
      {view ? (
        <>
          <p>
            {empty ? "There is nothing that agents could use in " : "This is what you made for Claude Code, in "}
            <span className="mono selectable">{visible(view.setup.folder)}</span>. {empty ? "" : `${grantWords(view.grant)} Copies are made anew before each run; what agents change in them does not reach your files.`}
          </p>
          {!empty && <Comes view={view} />}
          {!empty && <Asks asks={view.setup.asks ?? []} ticked={ticked} onTick={tick} />}
          <Left left={view.setup.left ?? []} />
        </>
      ) : (
        !failure && <div className="skeleton claude-setup-skeleton" role="status" aria-label="Reading your set-up" />
      )}
      {failure && <FailureCard failure={failure}>{!view && <Button look="small" onClick={load}>Load again</Button>}</FailureCard>}
    </Modal>
  );
}

function Comes({ view }: { view: ClaudeSetupView }) {
  const groups = setupGroups(view.setup.files ?? []);
  const settings = view.setup.settings ?? [];
  if (groups.length + settings.length === 0) return null;
  return (
    <section>
      <h3>Comes with your yes</h3>
      {groups.map((g) => <Folded key={g.id} words={g.words} names={g.paths} />)}
      {settings.length > 0 && <Folded words={plural(settings.length, "setting")} names={settings} />}
    </section>
  );
}

function Folded({ words, names }: { words: string; names: string[] }) {
  if (names.length === 1 && names[0] === words) return <p className="mono setup-one">{words}</p>;
  return (
    <details>
      <summary>{words}</summary>
      <ul className="mono selectable">
        {names.map((n) => <li key={n}>{visible(n)}</li>)}
      </ul>
    </details>
  );
}

type AsksProps = { asks: SetupAsk[]; ticked: string[]; onTick(id: string, on: boolean): void };

function Asks({ asks, ticked, onTick }: AsksProps) {
  if (asks.length === 0) return null;
  return (
    <section>
      <h3 id="setup-asks">Needs a yes each</h3>
      <p className="hint">They run programs in the container or set variables there. Tick those that may come along.</p>
      <ul className="setup-asks" aria-labelledby="setup-asks">
        {asks.map((a) => (
          <li key={a.id}>
            <label>
              <input type="checkbox" checked={ticked.includes(a.id)} aria-describedby={`setup-${a.id}`} onChange={(e) => onTick(a.id, e.target.checked)} />
              {visible(a.text)}
            </label>
            <p className="mono selectable setup-detail" id={`setup-${a.id}`}>{visible(a.detail)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Left({ left }: { left: NonNullable<ClaudeSetupView["setup"]["left"]> }) {
  if (left.length === 0) return null;
  return (
    <section>
      <details>
        <summary>Never comes ({left.length.toLocaleString("en")})</summary>
        <ul className="selectable setup-left">
          {left.map((l) => (
            <li key={`${l.text} ${l.reason}`}>
              <span className="mono">{visible(l.text)}</span>
              <span className="hint">{visible(l.reason)}</span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
