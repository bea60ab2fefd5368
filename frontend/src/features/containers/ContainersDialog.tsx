import { Box, RefreshCw } from "lucide-react";
import { useStore } from "zustand";
import type { ChannelID, Container } from "../../api/types";
import { elapsed } from "../../model/format";
import { frameStore, toast, toastFailure } from "../../model/stores";
import { visible } from "../../model/text";
import { session } from "../../session/session";
import { IconButton } from "../../ui/Button";
import { CopyIcon } from "../../ui/CopyButton";
import { Modal } from "../../ui/Modal";
import { useNow } from "../../ui/useNow";
import "./containers.css";

const WORD: Record<string, string> = { reserved: "being made", running: "running", stopped: "stopped", "pending-removal": "kept" };

function stateOf(c: Container): string {
  if (c.status === "running" && c.type !== "chrome" && !c.scope && !c.run_id) return "finishing"; // others use it; nobody joins
  return WORD[c.status] ?? c.status;
}

async function recreate(channel: ChannelID) {
  try {
    await session().api.containers.recreate(channel);
    toast("The next run or terminal gets a new container. What works in this one goes on.");
  } catch (err) {
    toastFailure(err);
  }
}

export function ContainersDialog({ onClose }: { onClose(): void }) {
  const containers = useStore(frameStore, (f) => f.containers);
  const channels = useStore(frameStore, (f) => f.channels);
  const now = useNow(containers.length > 0);
  return (
    <Modal title="Containers" wide scrolls onClose={onClose} description="Containers that this Loop folder has made">
      {containers.length === 0 ? (
        <div className="containers-empty">
          <Box size={20} aria-hidden />
          <p>No containers now. A run or a terminal makes one, and the next of its channel uses it again.</p>
        </div>
      ) : (
        <table className="containers">
          <thead>
            <tr><th>Name</th><th>Channel</th><th>State</th><th>Age</th><th><span className="sr-only">Actions</span></th></tr>
          </thead>
          <tbody>
            {containers.map((c) => {
              const left = c.remove_at ? Date.parse(c.remove_at) - now : 0;
              return (
                <tr key={c.container_id || c.container_name}>
                  <td className="mono selectable">{visible(c.container_name)}</td>
                  <td>{visible(channels.find((x) => x.channel_id === c.channel_id)?.name ?? "removed")}</td>
                  <td className="tnum">{stateOf(c)}{left > 0 ? ` for ${elapsed(left)}` : ""}</td>
                  <td className="tnum">{elapsed(now - Date.parse(c.created_at))}</td>
                  <td className="containers-actions">
                    {c.scope && (
                      <IconButton name="Have the next run get a new container" small onClick={() => void recreate(c.channel_id)}>
                        <RefreshCw size={13} />
                      </IconButton>
                    )}
                    <CopyIcon text={c.container_id} name="Copy the container's id" />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Modal>
  );
}
