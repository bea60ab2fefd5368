import { History } from "lucide-react";
import { viewStore } from "../../../model/stores";
import { goBackTo } from "../../../session/rewind";
import { KeyOf } from "../../../ui/Button";
import type { PromptItem } from "../../../model/timeline/items";
import { SafeText } from "../../../ui/SafeText";
import { isTalk } from "../../../model/timeline/talks";
import { isFoldable } from "../../../model/timeline/fold";
import { Pictures } from "../Pictures";
import type { RowProps } from "./props";

export function PromptRow({ item, open, onToggle }: RowProps<PromptItem>) {
  const long = isFoldable(item);
  return (
    <div className="main">
      {!isTalk(item.runId) && <button type="button" className="rewound-here" tabIndex={-1} onClick={() => goBackTo(viewStore.getState().selected, item.runId)}>
        <History size={13} aria-hidden />
        Back to here <KeyOf of="timeline.back" />
      </button>}
      <div className={`bubble selectable ${long && !open ? "folded" : ""}`}>
        <p>
          <SafeText text={item.text} />
        </p>
      </div>
      {item.own && <p className="prompt-own">with <SafeText text={item.own} /></p>}
      {item.pictures && <Pictures channelId={item.channelId ?? ""} pictures={item.pictures} />}
      {long && (
        <button type="button" className="link small" aria-expanded={open} onClick={() => onToggle(item.key)}>
          {open ? "Show less" : "Show the whole prompt"}
        </button>
      )}
    </div>
  );
}
