import { Box } from "lucide-react";
import { useStore } from "zustand";
import { elapsed } from "../../model/format";
import { frameStore, viewStore } from "../../model/stores";
import { useNow } from "../../ui/useNow";

/** The container of the selected channel, at the foot of the sidebar. */
export function SelectedContainer() {
  const selected = useStore(viewStore, (v) => v.selected);
  const c = useStore(frameStore, (f) => f.containers.findLast((x) => x.channel_id === selected && x.status !== "reserved"));
  const removeAt = c?.remove_at ? Date.parse(c.remove_at) : 0;
  const now = useNow(removeAt > 0);
  if (!c) return null;
  const left = removeAt - now;
  return (
    <div className="side-foot" title={c.container_name}>
      <Box size={14} aria-hidden />
      <span className="ellipsis mono">{c.container_name}</span>
      <span className="state tnum">{c.status === "running" ? "running" : removeAt > 0 && left > 0 ? `kept ${elapsed(left)}` : c.status === "pending-removal" ? "kept" : c.status}</span>
    </div>
  );
}
