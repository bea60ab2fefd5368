import { Globe, SquareTerminal } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Failure, KeptFrame, Recording } from "../../api/types";
import { driverWords, frameWords, shortAddress } from "../../model/footage";
import { plural } from "../../model/format";
import type { Playback } from "../../model/playback/lanes";
import { indexAt } from "../../model/playback/lanes";
import type { Cast } from "../../model/terminals/cast";
import { cleanTitle } from "../../model/terminals/titles";
import { castScreen } from "../../session/castscreen";
import type { CastScreen } from "../../session/castscreen";
import { usePicture } from "../../session/footage";
import { PageFrame } from "../../ui/PageFrame";
import { SafeText } from "../../ui/SafeText";

const LINES = 400; // of the agent's commands and their output, the last ones

type Props = {
  p: Playback; at: number; reading: boolean; unlisted: Failure | null; recordings: Recording[]; source: string; onSource(name: string): void; cast: Cast | null; offset: number; failure: Failure | null;
};

/** What the terminal and the page showed at a moment, side by side, or behind tabs where it is narrow. */
export function Stage({ p, at, reading, unlisted, recordings, source, onSource, cast, offset, failure }: Props) {
  const [tab, setTab] = useState<"terminal" | "page">("page");
  const pages = p.pictures.length > 0;
  const chosen = pages ? tab : "terminal";
  return (
    <div className={`playback-stage ${pages ? "both" : ""}`} data-tab={chosen}>
      {pages && (
        <div className="playback-tabs" role="tablist" aria-label="What is shown">
          {(["terminal", "page"] as const).map((t) => (
            <button key={t} type="button" role="tab" aria-selected={chosen === t} tabIndex={chosen === t ? 0 : -1} onClick={() => setTab(t)}
              onKeyDown={(e) => {
                if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
                e.preventDefault();
                setTab(t === "page" ? "terminal" : "page");
                (e.currentTarget.nextElementSibling ?? e.currentTarget.previousElementSibling)?.closest<HTMLElement>("button")?.focus();
              }}>
              {t === "page" ? "Page" : "Terminal"}
            </button>
          ))}
        </div>
      )}
      <div className="playback-pane terminal">
        <div className="playback-pane-head">
          <SquareTerminal size={13} aria-hidden />
          {recordings.length > 0 ? (
            <select className="field" aria-label="Terminal" value={source} onChange={(e) => onSource(e.target.value)}>
              {recordings.map((r) => <option key={r.name} value={r.name}>{cleanTitle(r.title) || "Terminal"}</option>)}
              <option value="">The agent's commands</option>
            </select>
          ) : <span>The agent's commands</span>}
          <span className="muted ellipsis">{unlisted ? <SafeText text={`Recordings not listed: ${unlisted.cause}`} /> : recordings.length > 0 ? plural(recordings.length, "recording") : !pages && !reading ? "No browser: the terminal takes the width" : ""}</span>
        </div>
        {failure ? <p className="playback-gap"><SafeText text={failure.cause} /></p> : source ? <Recorded cast={cast} seconds={(at - offset) / 1000} /> : <Commands p={p} at={at} />}
      </div>
      {pages && <Page p={p} at={at} />}
    </div>
  );
}

/** A recorded terminal. */
function Recorded({ cast, seconds }: { cast: Cast | null; seconds: number }) {
  const host = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<CastScreen | null>(null);
  useEffect(() => {
    const el = host.current;
    if (!cast || !el) return;
    let made: CastScreen | null = null;
    let gone = false;
    void castScreen(cast, el).then((s) => {
      made = s;
      if (gone) s.dispose();
      else setScreen(s);
    });
    return () => {
      gone = true;
      made?.dispose();
      setScreen(null);
    };
  }, [cast]);
  useEffect(() => screen?.seek(Math.max(0, seconds)), [screen, seconds]);
  return <div className="playback-screen cast" tabIndex={0} role="group" aria-label="Terminal"><div ref={host} /></div>;
}

/** The commands that the agent ran until a moment, and what they wrote. */
function Commands({ p, at }: { p: Playback; at: number }) {
  const until = indexAt(p.pieces, at);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [until]);
  let lines = 0;
  const shown = p.pieces.slice(0, until + 1).reverse().filter((x) => (lines += x.text.split("\n").length) <= LINES || lines === 0).reverse();
  return (
    <div className="playback-screen mono" tabIndex={0} role="group" aria-label="Terminal">
      {shown.length === 0 && <p className="muted">{p.pieces.length === 0 ? "The agent ran no command." : "No command yet."}</p>}
      {shown.map((x, i) => <pre key={i} className={x.kind}>{x.kind === "command" && <span className="playback-prompt">$ </span>}<SafeText text={x.text.replace(/\n$/, "")} /></pre>)}
      <div ref={end} />
    </div>
  );
}

/** The page as it was at a moment. */
function Page({ p, at }: { p: Playback; at: number }) {
  const i = indexAt(p.pictures, at);
  const frame: KeptFrame | undefined = p.pictures[i]?.frame;
  const shown = usePicture(frame, true);
  return (
    <div className="playback-pane page">
      <div className="playback-pane-head">
        <Globe size={13} aria-hidden />
        <span className="mono ellipsis grow"><SafeText text={frame ? shortAddress(frame.url ?? "") || "an empty page" : "no page open"} /></span>
        {frame && <span className={`playback-driver ${frame.driver}`}>{driverWords(frame)}</span>}
        {frame && <span className="muted tnum">frame {i + 1} of {p.pictures.length}</span>}
      </div>
      <div className="playback-page">
        {frame ? (
          <>
            <PageFrame frame={frame} url={shown.url} failure={shown.failure} alt={`${frame.title || "The page"}: ${frameWords(frame)}`} />
            {frame.kind !== "page" && <span className="playback-deed"><SafeText text={frameWords(frame)} /></span>}
          </>
        ) : <p className="muted">No page is open yet.</p>}
      </div>
    </div>
  );
}
