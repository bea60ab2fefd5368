import { MonitorX } from "lucide-react";
import { HOST_TEXT, HOST_WHY } from "../model/onhost";
import { openDialog } from "../session/actions";

/** Says that what is prompted in the selected channel has no container. */
export function HostItem() {
  return (
    <button type="button" className="status-item need" onClick={() => openDialog("settings")} title={HOST_WHY} aria-label={`${HOST_TEXT}. ${HOST_WHY}`}>
      <MonitorX size={13} aria-hidden />
      {HOST_TEXT}
    </button>
  );
}
