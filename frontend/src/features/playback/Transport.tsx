import { Check, Pause, Play, SkipBack, SkipForward, X } from "lucide-react";
import type { Dispatch, SetStateAction } from "react";
import { clockWords, lastBefore, nextAfter, turnAt } from "../../model/playback/lanes";
import type { Playback } from "../../model/playback/lanes";
import type { PlayClock } from "../../model/playback/playclock";
import { SPEEDS } from "../../model/playback/playclock";
import { IconButton, Kbd, KeyOf } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";

type Props = { p: Playback; c: PlayClock; marks: number[]; onClock: Dispatch<SetStateAction<PlayClock>>; onGo(to: number | undefined): void; onToggle(): void };

/** The buttons of a playback, and what happens at its moment. */
export function Transport({ p, c, marks, onClock, onGo, onToggle }: Props) {
  const turn = turnAt(p, c.at);
  return (
    <div className="playback-transport">
      <IconButton name="Turn before" action="playback.turn-before" onClick={() => onGo(lastBefore(marks, c.at) ?? 0)}><SkipBack size={15} /></IconButton>
      <IconButton name={c.playing ? "Pause" : "Play"} action="playback.play" className="playback-play" onClick={onToggle}>{c.playing ? <Pause size={15} /> : <Play size={15} />}</IconButton>
      <IconButton name="Turn after" action="playback.turn-after" onClick={() => onGo(nextAfter(marks, c.at))}><SkipForward size={15} /></IconButton>
      <span className="playback-time tnum"><strong>{clockWords(c.at)}</strong> <span className="muted">/ {clockWords(p.length)}</span></span>
      <span className="playback-speeds" role="group" aria-label="Speed">
        {SPEEDS.map((s) => <button key={s} type="button" aria-pressed={c.speed === s} onClick={() => onClock((was) => ({ ...was, speed: s }))}>{s === 0.5 ? "½" : s}×</button>)}
      </span>
      <label className="playback-skip"><input type="checkbox" checked={c.skip} onChange={(e) => onClock((was) => ({ ...was, skip: e.target.checked }))} /> Skip idle</label>
      <span className="playback-now ellipsis">
        {turn && (
          <>
            <strong><SafeText text={turn.words} /></strong>
            {turn.result && <span className={turn.failed ? "fail" : "muted"}>{turn.failed ? <X size={12} aria-hidden /> : turn.kind === "tool" && <Check size={12} aria-hidden />} <SafeText text={turn.result} /></span>}
          </>
        )}
      </span>
      <span className="playback-hints" aria-hidden><KeyOf of="playback.play" /> play <Kbd>←</Kbd> <Kbd>→</Kbd> 1 s <KeyOf of="playback.turn-before" /> <KeyOf of="playback.turn-after" /> turn <KeyOf of="playback.decision" /> decision</span>
    </div>
  );
}
