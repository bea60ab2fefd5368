import { Film, Play, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { Recording } from "../../api/types";
import { duration } from "../../model/format";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { later } from "../../ui/Later";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { session } from "../../session/session";
import { exact, when } from "../../model/clock";
import "./recordings.css";

const Player = later("The player", () => import("./RecordingPlayer"), (m) => m.RecordingPlayer, { ahead: false });

/** The recordings of all channels, newest first. */
export function RecordingsDialog({ onClose }: { onClose(): void }) {
  const [list, setList] = useState<Recording[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [playing, setPlaying] = useState("");
  const [asked, setAsked] = useState(""); // name of the recording whose deletion waits for an answer
  const load = useCallback(() => {
    setFailure(null);
    session().api.terminals.recordings().then((l) => setList(l ?? []), (err: unknown) => setFailure(toFailure(err)));
  }, []);
  useEffect(load, [load]);
  const remove = (name: string) => {
    setAsked("");
    session().api.terminals.deleteRecording(name).then(load, (err: unknown) => setFailure(toFailure(err)));
  };
  if (playing) {
    return (
      <Modal title={visible(list?.find((r) => r.name === playing)?.title ?? "") || "Recording"} wide onClose={() => setPlaying("")}>
        <div className="recordings-player">
          <Player name={playing} at={() => session().endpoint()} onClose={() => setPlaying("")} />
        </div>
      </Modal>
    );
  }
  return (
    <Modal title="Recordings" wide onClose={onClose} foot={<Button onClick={onClose}>Close</Button>}>
      {failure && <FailureCard failure={failure}><Button look="small" onClick={load}>Load again</Button></FailureCard>}
      {!list && !failure && <div className="skeleton" aria-hidden="true" />}
      {list?.length === 0 && (
        <p className="hint recordings-none">
          <Film size={16} aria-hidden /> Nothing was recorded yet. “Record” in a terminal’s menu keeps everything it shows from then on.
        </p>
      )}
      {list && list.length > 0 && (
        <ul className="recordings">
          {list.map((r) => <Row key={r.name} r={r} asked={asked === r.name} onPlay={() => setPlaying(r.name)} onAsk={(on) => setAsked(on ? r.name : "")} onDelete={() => remove(r.name)} />)}
        </ul>
      )}
    </Modal>
  );
}

function Row({ r, asked, onPlay, onAsk, onDelete }: { r: Recording; asked: boolean; onPlay(): void; onAsk(on: boolean): void; onDelete(): void }) {
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === r.channel_id)?.name ?? "");
  const at = Date.parse(r.started_at);
  const title = r.title || "Terminal";
  return (
    <li>
      <div className="recordings-text">
        <p className="ellipsis"><SafeText text={title} /></p>
        <p className="hint tnum">
          {channel && <><SafeText text={channel} /> · </>}
          <span title={exact(at)}>{when(at)}</span> · {duration(r.duration_ms)} · {size(r.bytes)} · {r.cols} × {r.rows}
        </p>
      </div>
      {asked ? (
        <>
          <span className="hint">Delete it for good?</span>
          <Button look="small danger" onClick={onDelete}>Delete</Button>
          <Button look="small" autoFocus data-first onClick={() => onAsk(false)}>Keep it</Button>
        </>
      ) : (
        <>
          <Button look="small" aria-label={`Play: ${title}`} onClick={onPlay}><Play size={12} aria-hidden /> Play</Button>
          <IconButton small name={`Delete: ${title}`} onClick={() => onAsk(true)}><Trash2 size={14} /></IconButton>
        </>
      )}
    </li>
  );
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
