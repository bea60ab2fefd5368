import { Globe, Lock } from "lucide-react";
import type { ContainerRow } from "../../model/containers";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { openPort } from "./actions";
import type { Ports } from "./useWatch";

/** The ports on which programs in a container listen. The browser of its channel opens them. */
export function PortsTab({ r, ports }: { r: ContainerRow; ports: Ports }) {
  const { c } = r;
  if (ports.failure) return <div className="containers-pad"><FailureCard failure={ports.failure} /></div>;
  if (!ports.list) return <div className="containers-pad" role="status" aria-label="Looking for ports"><div className="skeleton" style={{ width: "50%" }} /></div>;
  if (ports.list.length === 0) {
    const why = c.status !== "running" ? "It does not run." : c.type === "chrome" ? "A browser's container serves nothing." : "No program in it listens on a port. Start a server in a terminal, or have the agent start one.";
    return <p className="containers-pad containers-quiet">{why}</p>;
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className="containers-scroll" tabIndex={0} role="group" aria-label="Ports">
      <table className="containers-ports">
        <thead><tr><th scope="col">Port</th><th scope="col">Program</th><th scope="col">Kind</th><th scope="col">Address</th><th scope="col">What it shows</th><th scope="col"><span className="sr-only">Actions</span></th></tr></thead>
        <tbody>
          {ports.list.map((p) => (
            <tr key={p.port}>
              <td className="mono">{p.port}</td>
              <td className="mono">{p.process ? <SafeText text={p.process} /> : <span className="containers-quiet">not known</span>}</td>
              <td>{p.kind || <span className="containers-quiet">…</span>}</td>
              <td className="mono">{p.url.replace(/^http:\/\/|\/$/g, "")}</td>
              <td>{p.kind === "tcp" ? <span className="containers-quiet">not a page</span> : <SafeText text={p.title} />}</td>
              <td>
                <Button look="small" disabled={r.kind === "gone" || p.kind === "tcp"} onClick={() => openPort(c, p.url)}><Globe size={13} aria-hidden /> Open<span className="sr-only"> port {p.port}</span></Button>
                <CopyButton text={() => p.url}>Copy address</CopyButton>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="containers-foot containers-quiet"><Lock size={13} aria-hidden /> Nothing is published on this computer. The browser of the channel reaches these addresses through the link.</p>
    </div>
  );
}
