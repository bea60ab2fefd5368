import { CornerLeftUp } from "lucide-react";
import { when } from "../../model/clock";
import { oneLine } from "../../model/text";
import type { PromptItem } from "../../model/timeline/items";
import { SafeText } from "../../ui/SafeText";
import "./sticky.css";

/** The prompt of what is being read, above it. It leads back to the prompt. */
export function StickyPrompt({ item, onGo }: { item: PromptItem; onGo(): void }) {
  return (
    <div className="sticky">
      <div className="column">
        <button type="button" className="sticky-prompt" onClick={onGo} title="Go to this prompt">
          <CornerLeftUp size={14} aria-hidden />
          <span className="sr-only">Go to the prompt: </span>
          <span className="ellipsis"><SafeText text={oneLine(item.text)} /></span>
          <span className="sticky-time tnum">{when(item.at)}</span>
        </button>
      </div>
    </div>
  );
}
