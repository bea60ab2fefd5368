import { TriangleAlert, X } from "lucide-react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { Button, IconButton } from "../../../ui/Button";
import { Spinner } from "../../../ui/Mark";
import { SafeText } from "../../../ui/SafeText";
import { attachOf, attachStore, dismiss, giveUp } from "./attach";

const SHOWN = 3;

/** Files on their way into the prompt, and files that failed. */
export function Attaching({ channelId }: { channelId: ChannelID }) {
  const a = useStore(attachStore, (all) => attachOf(all, channelId));
  return (
    <>
      <div role="alert">
        {a.problems.slice(0, SHOWN).map((p, i) => (
          <div className="banner fail" key={i}>
            <TriangleAlert size={14} aria-hidden />
            <p>
              <strong><SafeText text={p.cause} /></strong> {p.remedy && <SafeText text={p.remedy} />}
            </p>
            <IconButton small name="Dismiss" onClick={() => dismiss(channelId, p)}>
              <X size={14} />
            </IconButton>
          </div>
        ))}
        {a.problems.length > SHOWN && (
          <div className="banner fail">
            <TriangleAlert size={14} aria-hidden />
            <p>{a.problems.length - SHOWN} more files could not be taken either.</p>
            <Button look="small" onClick={() => dismiss(channelId)}>Dismiss all</Button>
          </div>
        )}
      </div>
      <div role="status">
        {a.of > 0 && (
          <div className="banner">
            <Spinner size={13} />
            <p className="ellipsis">
              Taking <SafeText text={a.name} /> into the container{a.of > 1 ? `, ${a.nth} of ${a.of}` : ""}
            </p>
            <Button look="small" onClick={() => giveUp(channelId)}>Cancel</Button>
          </div>
        )}
      </div>
    </>
  );
}
