import { Search, TriangleAlert } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import type { ChannelID } from "../../api/types";
import { shortPlace, whyFits, whyRows } from "../../model/container-why";
import type { ContainerRow } from "../../model/containers";
import { openFile } from "../../session/actions";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import type { Why } from "./useWatch";

/** Each field of what the settings make now: its value, where it stands, and what it overrode. */
export function WhyTab({ r, said }: { r: ContainerRow; said: Why & { again(): void } }) {
  const [typed, setTyped] = useState("");
  const [changedOnly, setChangedOnly] = useState(false);
  const list = useRef<HTMLTableSectionElement>(null);
  const { why, failure } = said;
  const origins = r.c.drift?.origins;
  const rows = useMemo(() => (why ? whyRows(why, origins ?? []) : []), [why, origins]);
  if (r.c.type === "chrome") return <p className="containers-pad containers-quiet">A browser's container is the same for all channels. Nothing of it comes from these settings but “browser_enabled” and its image.</p>;
  if (r.kind === "gone") return <p className="containers-pad containers-quiet">The channel that it was made for is gone, and its settings with it.</p>;
  if (failure) return <div className="containers-pad"><FailureCard failure={failure}><Button look="small" onClick={said.again}>Try again</Button></FailureCard></div>;
  if (!why) return <div className="containers-pad" role="status" aria-label="Reading why"><div className="skeleton" style={{ width: "60%" }} /><div className="skeleton" style={{ width: "70%" }} /></div>;
  const shown = rows.filter((x) => whyFits(x, typed, changedOnly));

  function onKeyDown(e: KeyboardEvent) {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    const places = [...(list.current?.querySelectorAll<HTMLElement>("button.link") ?? [])];
    const at = places.indexOf(document.activeElement as HTMLElement);
    places[Math.min(places.length - 1, Math.max(0, at + (e.key === "ArrowDown" ? 1 : -1)))]?.focus();
    e.preventDefault();
  }
  return (
    <>
      <div className="containers-tools">
        <label className="containers-find"><Search size={14} aria-hidden /><input type="search" className="field" aria-label="Find a field" placeholder="Find a field" value={typed} onChange={(e) => setTyped(e.target.value)} /></label>
        <label className="containers-check"><input type="checkbox" checked={changedOnly} onChange={(e) => setChangedOnly(e.target.checked)} /> Changed only</label>
        <CopyButton text={() => JSON.stringify(why, null, 2)}>Copy as JSON</CopyButton>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className="containers-scroll" tabIndex={0} role="group" aria-label="Fields and where they come from" onKeyDown={onKeyDown}>
        <table className="containers-why">
          <thead><tr><th scope="col">Field</th><th scope="col">Value in force</th><th scope="col">Comes from</th><th scope="col">Overrode</th></tr></thead>
          <tbody ref={list}>
            {shown.map((x) => (
              <tr key={x.key}>
                <td>{x.name} <span className="mono containers-quiet"><SafeText text={x.field} /></span></td>
                <td><span className="mono"><SafeText text={x.value} /></span>{x.note && <span className="containers-note"><TriangleAlert size={11} aria-hidden /> <SafeText text={x.note} /></span>}</td>
                <td>{x.layer} <Place channel={r.c.channel_id} path={x.path} line={x.line} /></td>
                <td>{x.overrode && <><span className="mono"><SafeText text={x.overrode.value} /></span> {x.overrode.layer} <Place channel={r.c.channel_id} path={x.overrode.path} line={x.overrode.line} /></>}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className="containers-pad containers-quiet">{changedOnly && !typed ? "Nothing of the settings differs from this container, and no folder was left out." : "No field fits."}</p>}
      </div>
    </>
  );
}

function Place({ channel, path, line }: { channel: ChannelID; path: string; line: number }) {
  if (!path) return null;
  return <button type="button" className="link mono" title={`${path}${line ? `:${line}` : ""}`} onClick={() => openFile(channel, path, line || 1)}>{shortPlace(path, line)}</button>;
}
