import { FolderOpen, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { useStore } from "zustand";
import { connectionStore, doctorStore, frameStore } from "../../model/stores";
import { Button, KeyOf } from "../../ui/Button";
import { useCopied } from "../../ui/CopyButton";
import { openDemo, openDialog, openFolder } from "../../session/actions";
import { session } from "../../session/session";
import { CheckRow } from "../../ui/CheckRow";
import { reportText } from "../../model/doctor";
import { EngineRow, GateRow, ImageRow, ModelRow } from "./rows";
import "./welcome.css";

// Nobody needs notifications before the first run: the system asks about them when there is something to tell.
const OWN_ROWS = new Set(["engine", "image", "gate", "credentials", "display", "notifications"]);

export function Welcome() {
  const f = useStore(frameStore);
  const online = useStore(connectionStore, (c) => c.state === "online");
  const doctor = useStore(doctorStore);
  const { copied, copy } = useCopied();
  useEffect(() => {
    if (online && f.ready && doctor.phase === "none") void session().doctor();
  }, [online, f.ready, doctor.phase]);
  const checks = doctor.report?.checks ?? [];
  const check = (id: string) => checks.find((c) => c.id === id);
  // Other failed checks of this computer join the four rows that always show.
  const others = checks.filter((c) => !OWN_ROWS.has(c.id) && (c.state === "fail" || c.state === "warn"));
  const checking = doctor.phase === "running" || doctor.phase === "none";
  return (
    <div className="welcome">
      <div className="welcome-column">
        <h2>Agents at work, each in a container of its own</h2>
        <p className="welcome-sub">Four things to know before the first run. Loop checks each by doing it, not by looking for it.</p>
        {f.ready ? (
          <ul className="checks">
            <EngineRow engine={f.engine} check={check("engine")} link={check("link")} checking={checking} />
            <ImageRow image={f.image} engineOK={f.engine?.ok ?? false} />
            <GateRow gate={f.gate} />
            <ModelRow config={f.config} check={check("credentials")} checking={checking} />
            {others.filter((c) => c.id !== "link" || c.state === "fail").map((c) => (
              <CheckRow key={c.id} state={c.state} title={c.title} summary={c.summary} remedy={c.remedy} detail={c.detail} />
            ))}
          </ul>
        ) : (
          <ChecksSkeleton />
        )}
        <div className="welcome-actions">
          <Button look="primary large" disabled={!f.ready} onClick={() => void openFolder()}>
            <FolderOpen size={15} aria-hidden />
            Open a project folder <KeyOf of="page.open-folder" />
          </Button>
          <Button look="large" disabled={!f.ready} onClick={() => void openDemo()}>
            <Play size={14} aria-hidden />
            Try the demo
          </Button>
          <span className="grow" />
          <button type="button" className="link" disabled={!f.ready} onClick={() => openDialog("doctor")}>All checks</button>
          <button type="button" className="link" disabled={!f.ready} onClick={() => void copy(reportText(f, checks))}>{copied ? "Copied" : "Copy this report"}</button>
        </div>
      </div>
    </div>
  );
}

function ChecksSkeleton() {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const t = setTimeout(() => setSlow(true), 1000);
    return () => clearTimeout(t);
  }, []);
  return (
    <div className="checks welcome-skeleton" role="status" aria-label="Waiting for Loop">
      {[52, 70, 44, 60].map((w) => (
        <div key={w} className="check">
          <div className="check-text">
            <div className="skeleton" style={{ width: 96 }} />
            <div className="skeleton" style={{ width: `${w}%`, marginTop: 8 }} />
          </div>
        </div>
      ))}
      {slow && <p className="sr-only">Waiting for Loop to answer</p>}
    </div>
  );
}
