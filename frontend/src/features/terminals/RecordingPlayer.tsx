import "@xterm/xterm/css/xterm.css";
import { Pause, Play, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { At } from "../../api/terminals";
import { fetchRecording } from "../../api/terminals";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { Cast } from "../../model/terminals/cast";
import { MAX_CAST, parseCast } from "../../model/terminals/cast";
import { cleanTitle } from "../../model/terminals/titles";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Spinner } from "../../ui/Mark";
import { CastPlayer } from "./player";
import type { TerminalSettings } from "./props";
import { DEFAULT_SETTINGS } from "./props";
import "./terminals.css";
import "./player.css";

const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const STEP_S = 5;
const NONE: Failure = { code: "recording", cause: "This file is not a recording that can be played.", remedy: "Record the terminal again. Loop plays asciicast version 2 only." };

type Props = { name: string; at(): Promise<At>; settings?: TerminalSettings; onClose(): void };

/** Plays a recorded session. Its keys are Space, the arrows, Home and End, and < and > for the speed. */
export function RecordingPlayer({ name, at, settings = DEFAULT_SETTINGS, onClose }: Props) {
  const [cast, setCast] = useState<Cast | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setFailure(null);
    (async () => {
      try {
        const c = parseCast(await fetchRecording(await at(), name, MAX_CAST, stop.signal));
        if (stop.signal.aborted) return;
        if (c) setCast(c);
        else setFailure(NONE);
      } catch (err) {
        if (!stop.signal.aborted) setFailure(toFailure(err));
      }
    })();
    return () => stop.abort();
  }, [name, at, again]);
  if (failure) {
    return (
      <div className="player">
        <div className="term-failed">
          <FailureCard failure={failure}>
            <Button look="small" onClick={() => setAgain(again + 1)}>Try again</Button>
            <Button look="small" onClick={onClose}>Close</Button>
          </FailureCard>
        </div>
      </div>
    );
  }
  if (!cast) return <div className="player player-wait" role="status"><Spinner /> Reading the recording…</div>;
  return <Loaded cast={cast} settings={settings} onClose={onClose} />;
}

function Loaded({ cast, settings, onClose }: { cast: Cast; settings: TerminalSettings; onClose(): void }) {
  const host = useRef<HTMLDivElement>(null);
  const player = useRef<CastPlayer | null>(null);
  const [now, setNow] = useState({ at: 0, playing: false, speed: 1 });
  useEffect(() => {
    if (!host.current) return;
    const p = new CastPlayer(cast, host.current, settings, () => setNow({ at: p.clock.position, playing: p.clock.playing, speed: p.clock.speed }));
    player.current = p;
    p.play(true);
    const dialog = host.current.closest("[role=dialog]");
    if (dialog && document.activeElement === dialog) host.current.parentElement?.focus(); // the person has not moved the focus
    return () => p.dispose();
  }, [cast, settings]);

  const speed = (v: number) => {
    if (player.current) player.current.clock.speed = v;
    setNow((n) => ({ ...n, speed: v }));
  };
  const seek = (to: number) => player.current?.seek(to);
  function onKeyDown(e: React.KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const faster = SPEEDS.findIndex((s) => s >= now.speed);
    const own = e.target instanceof HTMLElement && e.target.closest("input[type=range]") !== null;
    const keys: Record<string, () => void> = {
      " ": () => player.current?.play(!now.playing), k: () => player.current?.play(!now.playing),
      ArrowLeft: () => seek(now.at - STEP_S), ArrowRight: () => seek(now.at + STEP_S),
      Home: () => seek(0), End: () => seek(cast.duration),
      "<": () => speed(SPEEDS[Math.max(0, faster - 1)] ?? 1), ">": () => speed(SPEEDS[Math.min(SPEEDS.length - 1, faster + 1)] ?? 1),
    };
    const f = keys[e.key];
    if (!f || (e.key === " " && e.target instanceof HTMLButtonElement) || (e.target instanceof HTMLSelectElement)) return;
    if (own && e.key === " ") return;
    e.preventDefault();
    f();
  }
  const title = cleanTitle(cast.title) || "Recording";
  return (
    <div className="player" role="group" aria-label={`Recording of ${title}`} data-region onKeyDown={onKeyDown}>
      <div className="player-screen" tabIndex={0} role="group" aria-label={`What ${title} showed`}><div ref={host} /></div>
      {cast.cut && <p className="player-cut">Only the beginning is shown: the recording broke off, or is longer than 64 MB.</p>}
      <div className="player-foot">
        <IconButton name={now.playing ? "Pause" : "Play"} keys="Space" onClick={() => player.current?.play(!now.playing)}>
          {now.playing ? <Pause size={15} /> : <Play size={15} />}
        </IconButton>
        <span className="tnum">{clock(now.at)}</span>
        <input type="range" aria-label="Position" aria-valuetext={`${clock(now.at)} of ${clock(cast.duration)}`} min={0} max={Math.max(cast.duration, 0.001)} step={0.01} value={now.at} onChange={(e) => seek(Number(e.target.value))} />
        <span className="tnum muted">{clock(cast.duration)}</span>
        <select className="field" aria-label="Speed" value={now.speed} onChange={(e) => speed(Number(e.target.value))}>
          {SPEEDS.map((s) => <option key={s} value={s}>{s}×</option>)}
        </select>
        <IconButton name="Close the recording" onClick={onClose}><X size={15} /></IconButton>
      </div>
    </div>
  );
}

function clock(seconds: number): string {
  const s = Math.floor(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}
