import { ChevronRight, CircleDashed, SquareTerminal } from "lucide-react";
import { useStore } from "zustand";
import { sessionsStore } from "../../../model/dock/store";
import { elapsed } from "../../../model/format";
import type { TalkItem } from "../../../model/timeline/items";
import { talkFacts } from "../../../model/timeline/talks";
import { goOnWithTalk, showTalkTerminal, talkTerminal } from "../../../session/talks";
import { Button } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import { useNow } from "../../../ui/useNow";
import type { RowProps } from "./props";
import "./talkrow.css";

/** A conversation with Claude in a terminal. Its own rows follow in the list while it is open. */
export function TalkRow({ item, open, onToggle }: RowProps<TalkItem>) {
  const t = item.talk;
  return (
    <div className="main talkrow">
      <button type="button" className={`line ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={() => onToggle(item.key)}>
        <SquareTerminal size={14} aria-hidden />
        <span className="verb">In the terminal</span>
        <span className="object ellipsis">{t.title ? <>“<SafeText text={t.title} />”</> : "a conversation"}</span>
        <span className="marks tnum">
          <span className="mark talkrow-facts ellipsis">{t.working ? <Working since={t.turn_began_ms ?? 0} /> : talkFacts(t).join(" · ")}</span>
        </span>
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && <Ways item={item} />}
    </div>
  );
}

function Working({ since }: { since: number }) {
  const now = useNow(true);
  return (
    <span className="talkrow-working">
      <CircleDashed size={12} aria-hidden />
      <span>working{since > 0 ? ` ${elapsed(Math.max(0, now - since))}` : ""}</span>
    </span>
  );
}

/** Where one can go on with it, and what is not known of it. */
function Ways({ item }: { item: TalkItem }) {
  const t = item.talk;
  const terminal = useStore(sessionsStore, (s) => talkTerminal(s, t));
  const unknown = t.unpriced ?? [];
  return (
    <div className="talkrow-ways">
      {terminal && <Button look="small" onClick={() => showTalkTerminal(terminal)}>Show the terminal</Button>}
      <Button look="small" onClick={() => void goOnWithTalk(t)}>Go on with it here</Button>
      <span className="hint">
        {unknown.length > 0 && <>No price of <SafeText text={unknown.join(", ")} /> is known until Claude names one, when it ends in its terminal. </>}
        {t.cost_estimated && unknown.length === 0 && "The cost is worked out from tokens until Claude ends in its terminal; sub-agents are not in it."}
      </span>
    </div>
  );
}
