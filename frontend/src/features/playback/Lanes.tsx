import { Check, Globe, Hand, List, ShieldCheck, ShieldQuestion, SquareTerminal, X } from "lucide-react";
import type { CSSProperties, PointerEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Picture, Playback } from "../../model/playback/lanes";
import { clockWords, strip, ticks, turnAt, written } from "../../model/playback/lanes";
import { usePicture } from "../../session/footage";
import { PageThumb } from "../../ui/PageFrame";
import { SafeText } from "../../ui/SafeText";

const THUMB = 50; // pixels of the lane for one thumbnail
const BAR = 9;
const TICK = 90;

type Props = { p: Playback; at: number; output: { at: number; size: number }[]; terminals: number; onSeek(at: number): void };

/** The lanes of a run under one ruler. A pointer scrubs anywhere on them. */
export function Lanes({ p, at, output, terminals, onSeek }: Props) {
  const track = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const el = track.current;
    if (!el) return;
    const watch = new ResizeObserver(() => setWidth(el.clientWidth));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const pictures = useMemo(() => strip(p, Math.floor(width / THUMB)), [p, width]);
  const bars = useMemo(() => written(output, p.length, Math.floor(width / BAR)), [output, p.length, width]);
  const place = (from: number, to = from): CSSProperties => ({ left: `${(100 * from) / p.length}%`, width: `${(100 * (to - from)) / p.length}%` });
  const scrub = (e: PointerEvent<HTMLElement>) => {
    const box = track.current?.getBoundingClientRect();
    if (box) onSeek(((e.clientX - box.left) / box.width) * p.length);
  };
  const turn = turnAt(p, at);
  const share = p.length > 0 ? (100 * at) / p.length : 0;
  return (
    <div className="playback-lanes" onPointerDown={(e) => { if (e.button === 0) { e.currentTarget.setPointerCapture(e.pointerId); scrub(e); } }} onPointerMove={(e) => e.buttons & 1 && scrub(e)}>
      <div className="playback-names" aria-hidden>
        <span />
        <span><List size={13} /> Turns <b className="tnum">{p.turns.length}</b></span>
        <span><ShieldCheck size={13} /> Decisions <b className="tnum">{p.decisions.length}</b></span>
        <span className="tall"><Globe size={13} /> Browser <b className="tnum">{p.pictures.length}</b></span>
        <span><SquareTerminal size={13} /> Terminal <b className="tnum">{terminals || ""}</b></span>
      </div>
      <div className="playback-track" ref={track}>
        <input type="range" className="playback-seek" aria-label="Position" aria-valuetext={`${clockWords(at)} of ${clockWords(p.length)}${turn ? `, ${turn.words}` : ""}`} min={0} max={p.length} step={100} value={at} onChange={(e) => onSeek(Number(e.target.value))} />
        <div className="playback-ruler tnum" aria-hidden>{ticks(p.length, Math.max(2, width / TICK)).map((t) => <span key={t} style={place(t)}>{clockWords(t)}</span>)}</div>
        <div className="playback-lane" aria-hidden>
          {p.turns.map((t) => <span key={t.key} className={`playback-turn ${t.kind} ${t.failed ? "bad" : ""} ${t === turn ? "now" : ""}`} style={place(t.at, t.until)}>{t.kind === "you" ? <Hand size={11} /> : t.kind === "done" && <Check size={11} />}<SafeText text={t.words} /></span>)}
        </div>
        <div className="playback-lane" aria-hidden>
          {p.decisions.map((d) => (
            <span key={d.key}>
              {d.at > d.from && <span className="playback-waited" style={place(d.from, d.at)} />}
              <span className={`playback-decision ${d.state}`} style={{ left: `${(100 * d.at) / p.length}%` }} title={d.words}>{d.state === "denied" ? <X size={10} /> : d.state === "allowed" ? <Check size={10} /> : <ShieldQuestion size={10} />}</span>
            </span>
          ))}
        </div>
        <div className="playback-lane tall" aria-hidden>
          {(p.pictures.length === 0 || (width > 0 && !pictures[1])) && <span className="playback-none">no page open</span>}
          {pictures.map((x, i) => x && <Small key={i} x={x} left={`${(100 * i) / pictures.length}%`} />)}
        </div>
        <div className="playback-lane" aria-hidden>
          {bars.map((h, i) => h > 0 && <span key={i} className="playback-bar" style={{ left: `${(100 * i) / bars.length}%`, height: `${20 + 75 * h}%` }} />)}
        </div>
        <div className="playback-line" style={{ left: `${share}%` }} aria-hidden>
          <b className="tnum" style={{ transform: `translateX(-${share}%)` }}>{clockWords(at)}</b>
        </div>
      </div>
      <ol className="sr-only" aria-label="Turns and decisions">
        {[...p.turns.map((t) => ({ at: t.at, words: `${t.words}${t.failed ? ", failed" : ""}` })), ...p.decisions].sort((a, b) => a.at - b.at).map((m, i) => <li key={i}>{clockWords(m.at)} {m.words}</li>)}
      </ol>
    </div>
  );
}

function Small({ x, left }: { x: Picture; left: string }) {
  const { url, failure } = usePicture(x.frame);
  const whole = { ...x.frame };
  delete whole.target; // all of the page
  return <span className="playback-small" style={{ left }}><PageThumb frame={whole} url={url} failure={failure} /></span>;
}
