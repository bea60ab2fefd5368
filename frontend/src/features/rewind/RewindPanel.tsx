import { EyeOff, GitCommitHorizontal, Undo2 } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, RewindPreview, RewindWhat } from "../../api/types";
import { requestClose } from "../../dock/dock";
import { clock } from "../../model/clock";
import { plural } from "../../model/format";
import { fill, hasFiles, hasTalk, keptOf, leavesWords, leavingStore, possible, rewindStore, WHAT } from "../../model/rewind";
import { oneLine } from "../../model/text";
import { focusPrompt } from "../../session/actions";
import { goBack } from "../../session/rewind";
import { Button, Kbd, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { keys, MOD, mod, pressed } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { BackFiles } from "./BackFiles";
import { usePreview } from "./usePreview";
import "./rewind.css";

type Props = { channelId: ChannelID; panel: string };

/** Back to before a prompt: what it does with files and conversation, and the button that does it. */
export function RewindPanel({ channelId, panel }: Props) {
  const target = useStore(rewindStore, (all) => all[channelId]);
  const run = target?.run ?? "";
  const root = useRef<HTMLElement>(null);
  const { p, failure, look } = usePreview(channelId, run, target?.visit ?? 0, root);
  const [chosen, setChosen] = useState<RewindWhat | "">("");
  const [keep, setKeep] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState("");
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Failure | null>(null);

  const may = p ? possible(p) : [];
  const what = may.find((w) => w === chosen) ?? may[0];
  const words = p && what && hasTalk(what) ? leavesWords(p) : "";
  useEffect(() => {
    leavingStore.setState({ [channelId]: words ? { run, words } : run ? { run, words: "" } : undefined });
    return () => leavingStore.setState({ [channelId]: undefined });
  }, [channelId, run, words]);

  const files = p?.files ?? [];
  const here = files.find((f) => f.path === at) ?? files.find((f) => f.own_ms) ?? files[0];

  const close = () => requestClose(panel);
  async function go() {
    if (!p || !what || busy) return;
    setBusy(true);
    setRefused(null);
    try {
      await goBack(channelId, run, { what, keep: keptOf(p, keep), mark: p.mark, stop: Boolean(p.live) });
      close();
      focusPrompt();
    } catch (err) {
      setRefused(toFailure(err));
      void look();
    } finally {
      setBusy(false);
    }
  }

  function tick() {
    if (!here?.own_ms) return;
    const next = new Set(keep);
    if (!next.delete(here.path)) next.add(here.path);
    setKeep(next);
  }

  function onKey(e: KeyboardEvent) {
    if (e.defaultPrevented) return;
    const i = here ? files.indexOf(here) : -1;
    const act: Record<string, () => void> = mod(e) && !e.altKey
      ? { Enter: () => void go(), "rewind.keep": tick }
      : {
          Escape: close, "rewind.keep": tick, ArrowDown: () => setAt(files[Math.min(files.length - 1, i + 1)]?.path ?? ""), ArrowUp: () => setAt(files[Math.max(0, i - 1)]?.path ?? ""),
          1: () => choose("both"), 2: () => choose("files"), 3: () => choose("conversation"),
        };
    const f = act[pressed("rewind", e) || (e.altKey ? "" : e.key)];
    if (!f || (e.key.startsWith("Arrow") && !(e.target as HTMLElement).matches(".rewind-list, .rewind-body"))) return;
    e.preventDefault();
    f();
  }
  const choose = (w: RewindWhat) => may.includes(w) && setChosen(w);

  return (
    <section className="rewind" aria-label="Back to here" ref={root} onKeyDown={onKey}>
      <div className="rewind-body" tabIndex={-1}>
        <h2>Back to here</h2>
        {!run && <p className="rewind-quiet">Press <KeyOf of="timeline.back" /> on a prompt of the timeline to see what going back to before it would do.</p>}
        {p && <p className="rewind-sub">To before {clock(p.prompt_ms)}, “<SafeText text={oneLine(p.prompt)} />”</p>}
        {run && !p && !failure && <div role="status" aria-label="Looking at the files">{[50, 90, 70].map((w, i) => <div key={i} className="skeleton rewind-bone" style={{ width: `${w}%` }} />)}</div>}
        {failure && <FailureCard failure={failure}><Button look="small" onClick={() => void look()}>Look again</Button></FailureCard>}
        {p && (
          <>
            <div className="rewind-what" role="radiogroup" aria-label="What goes back">
              {WHAT.map((w) => (
                <button key={w.what} type="button" role="radio" aria-checked={w.what === what} disabled={!may.includes(w.what)} className={w.what === what ? "rewind-on" : ""} onClick={() => choose(w.what)}>
                  {w.name} <Kbd>{w.key}</Kbd>
                </button>
              ))}
            </div>
            {(!what || hasFiles(what) || p.no_files) && <BackFiles p={p} run={run} here={here} keep={keep} onChoose={setAt} onTick={tick} />}
            {(!what || hasTalk(what) || p.talk.why) && <Talk p={p} />}
            <Stays p={p} what={what ?? "conversation"} />
          </>
        )}
        {refused && <div className="rewind-refused" role="alert"><FailureCard failure={refused} /></div>}
      </div>
      {p && (
        <footer className="rewind-foot">
          <Undo2 size={14} aria-hidden />
          <p><strong>Can be undone.</strong> The state of now is kept for {plural(p.kept_for, "day")}.</p>
          <Button onClick={close}>Cancel <Kbd>Esc</Kbd></Button>
          <Button look="primary" disabled={!what || busy} onClick={() => void go()}>{p.live ? "Stop and go back" : "Go back"} <Kbd>{keys(MOD, "Enter")}</Kbd></Button>
        </footer>
      )}
    </section>
  );
}

function Talk({ p }: { p: RewindPreview }) {
  const t = p.talk;
  const now = fill(t.context);
  const then = t.fresh ? 0 : fill(t.then);
  if (t.why) return <section aria-label="Conversation"><h3>Conversation <span>stays</span></h3><p className="rewind-quiet">{t.why}</p></section>;
  return (
    <section aria-label="Conversation">
      <h3>Conversation <span>{plural(t.prompts, "prompt")}, {plural(t.turns, "turn")} {t.prompts === 1 && t.turns === 1 ? "leaves" : "leave"} it</span></h3>
      {now >= 0 && then >= 0 && (
        <div className="rewind-fill">
          <span className="rewind-bar" aria-hidden><i style={{ width: `${Math.min(then, now)}%` }} /><b style={{ width: `${Math.max(0, now - then)}%` }} /></span>
          <span className="tnum">context {now} % → {then} %</span>
        </div>
      )}
      <p className="rewind-quiet">{t.fresh ? "The conversation began with this prompt, so the next one begins it anew. " : ""}They stay in the timeline, folded, to read and to copy from.</p>
    </section>
  );
}

function Stays({ p, what }: { p: RewindPreview; what: RewindWhat }) {
  return (
    <section aria-label="Stays as it is">
      <h3>Stays as it is</h3>
      <ul className="rewind-stays">
        {hasFiles(what) && <li><GitCommitHorizontal size={14} aria-hidden />{p.head ? <span>Commits and branches: <code>{p.head}</code> stays, the branch does not move</span> : <span>Commits and branches; no branch moves</span>}</li>}
        <li><EyeOff size={14} aria-hidden /><span>What git ignores, databases, other folders, what was sent out</span></li>
        {hasFiles(what) && (p.left ?? []).map((l) => <li key={l}><EyeOff size={14} aria-hidden /><SafeText text={l} /></li>)}
      </ul>
    </section>
  );
}
