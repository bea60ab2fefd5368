import { ArrowUp, CircleX, File, LoaderCircle } from "lucide-react";
import type { BrowserDownload } from "../../api/browser-messages";
import { byteSize } from "../../model/byteSize";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";
import { pathToPrompt } from "./prompting";

function words(d: BrowserDownload): string {
  if (d.state === "refused") return d.why || "Refused";
  if (d.state === "done") return byteSize(d.bytes);
  return d.total > 0 ? `${byteSize(d.bytes)} of ${byteSize(d.total)}` : byteSize(d.bytes);
}

/** What pages gave to download, the newest first. The agent finds each at its path. */
export function Downloads({ pane, downloads }: { pane: BrowserPane; downloads: BrowserDownload[] }) {
  return (
    <ol className="browser-lines browser-downloads" aria-label="Downloads">
      {downloads.toReversed().map((d) => (
        <li key={d.id} className={d.state === "refused" ? "error" : ""}>
          <span className="browser-mark">{d.state === "running" ? <LoaderCircle size={13} className="spin" aria-label="on its way" /> : d.state === "done" ? <File size={13} aria-hidden /> : <CircleX size={13} aria-label="refused" />}</span>
          <span className="browser-line-text"><strong><SafeText text={d.name} /></strong> {d.state === "done" && d.path && <span className="quiet"><SafeText text={d.path} /></span>}</span>
          {d.state === "running" && d.total > 0 && <progress value={d.bytes} max={d.total} aria-label={`How much of ${d.name} has come`} />}
          <span className="quiet browser-why"><SafeText text={words(d)} /></span>
          {d.state === "done" && d.path && <><CopyButton text={() => d.path}>Copy path</CopyButton><Button look="small" onClick={() => pathToPrompt(pane, d.path)}><ArrowUp size={13} aria-hidden /> To prompt</Button></>}
        </li>
      ))}
      {downloads.length === 0 && <li className="none">Nothing was downloaded.</li>}
    </ol>
  );
}
