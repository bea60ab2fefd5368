import { useEffect, useId, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { toFailure } from "../../../api/failure";
import type { ChannelID } from "../../../api/types";
import { oneLine } from "../../../model/text";
import { Kbd } from "../../../ui/Button";
import { composing, pressed } from "../../../ui/keys";
import { SafeText } from "../../../ui/SafeText";
import { session } from "../../../session/session";
import "./mention.css";
import "./history.css";

const MOST = 50;

type Props = { channelId: ChannelID; onChoose(list: string[], i: number): void; onClose(): void; onBack(): void };

/** Searches the earlier prompts of the channel, newest first. It takes the keyboard until a prompt is chosen. */
export function HistorySearch({ channelId, onChoose, onClose, onBack }: Props) {
  const id = useId();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<string[] | null>(null);
  const [fault, setFault] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let here = true;
    const answer = (all: string[] | null, why: string) => {
      if (!here) return;
      setFound(all ?? []);
      setFault(why);
      setActive(0);
    };
    session().api.channels.history(channelId, query, MOST).then((all) => answer(all, ""), (e: unknown) => answer([], `${toFailure(e).cause} ${toFailure(e).remedy}`));
    return () => { here = false; };
  }, [channelId, query]);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active, found]);
  const n = found?.length ?? 0;
  const onKey = (e: KeyboardEvent) => {
    if (composing(e)) return;
    const further = pressed("prompt", e) === "prompt.history";
    if (e.key === "Escape") onBack(); // which takes the focus, so that this closes
    else if (e.key === "Enter" && found && n > 0) onChoose(found, active);
    else if (n > 0 && (e.key === "ArrowDown" || further)) setActive((active + 1) % n);
    else if (n > 0 && e.key === "ArrowUp") setActive((active + n - 1) % n);
    else if (!further) return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div className="mention">
      <div className="history-head">
        <input
          className="history-field" autoFocus role="combobox" aria-label="Search earlier prompts" aria-expanded={n > 0} aria-controls={n > 0 ? id : undefined} aria-autocomplete="list" placeholder="Search earlier prompts"
          aria-activedescendant={n > 0 ? `${id}-${active}` : undefined} value={query} maxLength={500} spellCheck={false} autoComplete="off"
          onChange={(e) => setQuery(e.target.value)} onKeyDown={onKey} onBlur={onClose}
        />
        <span role="status">{found ? `${n === MOST ? "newest " : ""}${n} ${n === 1 ? "prompt" : "prompts"}` : ""}</span>
      </div>
      {fault ? <p className="mention-note"><SafeText text={fault} /></p> : null}
      {found && n === 0 && !fault ? <p className="mention-note">{query ? "No earlier prompt has that in it." : "This channel has no earlier prompts."}</p> : null}
      {n > 0 && <div className="mention-list" role="listbox" aria-label="Earlier prompts" id={id} ref={list}>
        {(found ?? []).map((p, i) => (
          <div
            key={p} id={`${id}-${i}`} role="option" aria-selected={i === active} className="mention-row history-row"
            onMouseDown={(e) => e.preventDefault()} onMouseMove={() => setActive(i)} onClick={() => onChoose(found ?? [], i)}
          >
            <span className="ellipsis"><Found text={oneLine(p)} query={query} /></span>
          </div>
        ))}
      </div>}
      <div className="mention-foot">
        <span><Kbd>↑</Kbd> <Kbd>↓</Kbd> choose</span><span><Kbd>Enter</Kbd> take it into the box</span><span className="mention-close"><Kbd>Esc</Kbd> close</span>
      </div>
    </div>
  );
}

/** A prompt in one line with the words that were looked for. Far behind the beginning, it begins shortly before them. */
function Found({ text, query }: { text: string; query: string }) {
  const at = query ? text.toLowerCase().indexOf(query.toLowerCase()) : -1;
  if (at < 0) return <SafeText text={text} />;
  const from = at > 60 ? at - 20 : 0;
  return (
    <>
      <SafeText text={(from > 0 ? "…" : "") + text.slice(from, at)} />
      <mark className="mention-mark"><SafeText text={text.slice(at, at + query.length)} /></mark>
      <SafeText text={text.slice(at + query.length)} />
    </>
  );
}
