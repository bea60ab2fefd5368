import { Download, Film, Link } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useMemo, useState } from "react";
import type { ChannelID, RunID } from "../../api/types";
import { arrive, leave } from "../../dock/visit";
import { clock as timeOfDay } from "../../model/clock";
import { duration, money, plural } from "../../model/format";
import type { Playback } from "../../model/playback/lanes";
import { clockWords, lastBefore, leftOut, marksOf, momentsOf, nextAfter, rowAt } from "../../model/playback/lanes";
import { advance, play, seek, startClock } from "../../model/playback/playclock";
import { momentStore } from "../../model/playback/store";
import { readFootage } from "../../session/footage";
import { copyRunLink, exportRun } from "../../session/playback";
import { session } from "../../session/session";
import { toastFailure } from "../../model/stores";
import { Button, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { Lanes } from "./Lanes";
import { Stage } from "./Stage";
import { Transport } from "./Transport";
import { useCast, usePlayback, useRecordings } from "./usePlayback";
import { meaning } from "../../ui/keys";
import "./playback.css";

/** Plays back a run of a channel. */
export function PlaybackPanel({ channelId }: { channelId: ChannelID }) {
  const { run, from, visit, playback, footage, running, loading, failure } = usePlayback(channelId);
  return (
    <section className="playback" aria-label="Playback" tabIndex={-1} onFocus={arrive} data-region="playback">
      {footage.phase === "error" && footage.failure && (
        <div className="playback-pad"><FailureCard failure={footage.failure}><Button look="small" onClick={() => void readFootage(run)}>Read the pictures again</Button></FailureCard></div>
      )}
      {failure ? (
        <div className="playback-pad"><FailureCard failure={failure}><Button look="small" onClick={() => void session().load(channelId)}>Load again</Button></FailureCard></div>
      ) : loading ? (
        <div className="playback-pad" role="status" aria-label="Loading the run">
          {[0, 1, 2, 3].map((i) => <div key={i} className="skeleton playback-skeleton" />)}
        </div>
      ) : playback ? (
        <Player key={`${run} ${visit}`} channelId={channelId} run={run} from={from} p={playback} running={running} reading={footage.phase === "loading"} />
      ) : (
        <div className="dock-empty">
          <Film size={20} aria-hidden />
          <h2>No run to play back</h2>
          <p>Send a prompt. When its run has begun, it can be played back from its last row.</p>
        </div>
      )}
    </section>
  );
}

type PlayerProps = { channelId: ChannelID; run: RunID; from: number; p: Playback; running: boolean; reading: boolean };

function Player({ channelId, run, from, p, running, reading }: PlayerProps) {
  const [c, setClock] = useState(() => seek(startClock, from, p.length));
  const [source, setSource] = useState<string | null>(null);
  const { recordings, unlisted } = useRecordings(channelId, p.began, p.length);
  const name = source ?? recordings[0]?.name ?? "";
  const recording = recordings.find((r) => r.name === name);
  const { cast, failure } = useCast(recording?.name ?? "");
  const offset = recording ? Date.parse(recording.started_at) - p.began : 0;
  const output = useMemo(() => (cast ? cast.events.flatMap((e) => (e.kind === "o" ? [{ at: e.at * 1000 + offset, size: e.data.length }] : [])).filter((m) => m.at >= 0 && m.at <= p.length)
    : p.pieces.map((x) => ({ at: x.at, size: x.text.length }))), [cast, offset, p]);
  const moments = useMemo(() => (cast ? [...new Set([...momentsOf(p), ...output.map((m) => m.at)])].sort((a, b) => a - b) : momentsOf(p)), [cast, output, p]);
  const marks = useMemo(() => marksOf(p), [p]);

  useEffect(() => {
    if (!c.playing) return;
    let last = performance.now();
    let next = requestAnimationFrame(function step(now) {
      const by = Math.min(250, now - last);
      last = now;
      setClock((was) => advance(was, by, moments));
      next = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(next);
  }, [c.playing, moments]);

  const row = rowAt(p, c.at);
  useEffect(() => momentStore.setState({ [channelId]: { run, began: p.began, at: p.began + row } }), [channelId, run, p.began, row]);
  useEffect(() => () => momentStore.setState({ [channelId]: undefined }), [channelId]);

  const copy = () => void copyRunLink({ channel: channelId, run, at: c.at }, clockWords(c.at)).catch(toastFailure);
  const go = (to: number | undefined) => to !== undefined && setClock((was) => seek(was, to, p.length));
  const toggle = () => setClock((was) => play(was, !was.playing, p.length));

  function onKeyDown(e: KeyboardEvent) {
    const to = e.target as HTMLElement;
    if (to.matches("select")) return;
    const does: Record<string, () => void> = {
      "playback.play": toggle, ArrowLeft: () => go(c.at - 1000), ArrowRight: () => go(c.at + 1000), Home: () => go(0), End: () => go(p.length),
      "playback.turn-before": () => go(lastBefore(marks, c.at) ?? 0), "playback.turn-after": () => go(nextAfter(marks, c.at)),
      "playback.copy": copy,
      "playback.decision": () => go(nextAfter(p.decisions.map((x) => x.at), c.at)), Escape: () => leave(to.closest<HTMLElement>(".playback") ?? to),
    };
    if (to.matches("button, [type=checkbox]") && e.key === " ") return;
    if (to.matches("[role=tab], [role=radio]") && e.key.startsWith("Arrow")) return;
    if (to.matches(".playback-screen") && (e.key === "Home" || e.key === "End")) return;
    const f = does[meaning("playback", e)];
    if (!f) return;
    e.preventDefault();
    e.stopPropagation();
    f();
  }

  const out = leftOut(p);
  const cost = p.end?.status.cost_usd;
  return (
    <div className="playback-player" onKeyDown={onKeyDown}>
      <header className="playback-head">
        <Film size={14} aria-hidden />
        <span className="ellipsis grow"><SafeText text={p.prompt || "A run"} /></span>
        <span className="muted tnum">
          {[timeOfDay(p.began), running ? "still running" : duration(p.length), cost ? money(cost) : "", out > 0 ? `${plural(out, "picture")} left out, to save room` : ""].filter(Boolean).join(", ")}
        </span>
        <Button look="small" onClick={copy} title="Copy a link to this moment of the run">
          <Link size={12} aria-hidden />
          <span className="playback-word tnum">Copy link to {clockWords(c.at)}</span>
          <KeyOf of="playback.copy" />
        </Button>
        <Export run={run} />
      </header>
      <Stage p={p} at={c.at} reading={reading} unlisted={unlisted} recordings={recordings} source={name} onSource={setSource} cast={cast} offset={offset} failure={failure} />
      <Transport p={p} c={c} marks={marks} onClock={setClock} onGo={go} onToggle={toggle} />
      <Lanes p={p} at={c.at} output={output} terminals={recordings.length} onSeek={go} />
    </div>
  );
}

function Export({ run }: { run: RunID }) {
  const [busy, setBusy] = useState(false);
  async function save() {
    setBusy(true);
    try {
      await exportRun(run);
    } catch (err) {
      toastFailure(err);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Button look="small" disabled={busy} onClick={() => void save()} title="Saves the turns, the pictures and the terminals as one file for people without Loop. Secrets that Loop knows are left out of the text; look at the pictures yourself">
      <Download size={12} aria-hidden />
      <span className="playback-word">{busy ? "Exporting" : "Export…"}</span>
    </Button>
  );
}
