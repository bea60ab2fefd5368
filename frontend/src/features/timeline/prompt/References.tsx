import { SquareDashedMousePointer, X } from "lucide-react";
import { useMemo } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { isStale, pickedStore, referencesIn } from "../../../model/browser/reference";
import { IconButton } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";

const STALE = "The page has changed, so this number counts no more. The agent can still find the element by its name. Pick it again to be sure.";

/** The elements of a page that the prompt names. One that is no longer there is struck through. */
export function References({ channelId, text, onRemove }: { channelId: ChannelID; text: string; onRemove(words: string): void }) {
  const list = useMemo(() => referencesIn(text), [text]);
  const picked = useStore(pickedStore, (all) => all[channelId]);
  if (list.length === 0) return null;
  return (
    <ul className="prompt-refs" aria-label="Elements in the prompt">
      {list.map((r) => {
        const stale = isStale(picked, r.words);
        const words = <><span className="ellipsis"><SafeText text={r.label} /></span> <span className="mono">{r.ref}</span></>;
        return (
          <li key={r.words} className={`chip ${stale ? "stale" : ""}`} title={stale ? STALE : undefined}>
            <SquareDashedMousePointer size={13} aria-hidden />
            {stale ? <s>{words}</s> : words}
            {stale && <span className="sr-only">, no longer on the page</span>}
            <IconButton small name={`Remove ${r.ref}`} onClick={() => onRemove(r.words)}><X size={12} /></IconButton>
          </li>
        );
      })}
    </ul>
  );
}
