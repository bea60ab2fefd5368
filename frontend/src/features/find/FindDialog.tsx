import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { FoundEvent } from "../../api/types";
import { exact, when } from "../../model/clock";
import { findStore, stretches, whose, wordsOf } from "../../model/find";
import { frameStore } from "../../model/stores";
import { stripColour, visible } from "../../model/text";
import { visibleLine } from "../../model/gate-text";
import { goToFound, search, searchOlder, unwish, whenFound } from "../../session/find";
import { front } from "../../ui/layer";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { composing } from "../../ui/keys";
import { Modal } from "../../ui/Modal";
import "./find.css";

const NEAR = 5; // rows before the end at which older hits are asked for

/** Finds in everything that was said and done, in all channels. */
export function FindDialog({ onClose }: { onClose(): void }) {
  const find = useStore(findStore);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const here = Math.min(at, find.found.length - 1);
  useEffect(() => {
    const f = findStore.getState();
    if (f.words && f.channel) search(f.words, ""); // of one channel so far
    return unwish;
  }, []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    if (here >= find.found.length - NEAR) void searchOlder();
  }, [here, find.found.length]);
  const go = (f: FoundEvent | undefined) => {
    if (!f) return;
    front.after(() => void goToFound(f));
    onClose();
  };
  const enter = () => whenFound(() => go(findStore.getState().found[find.phase === "loading" ? 0 : here]));
  const step = (by: number) => find.phase !== "loading" && setAt(Math.max(0, Math.min(find.found.length - 1, here + by)));
  const words = wordsOf(find.words);
  return (
    <Modal title="Find in all that was said and done" wide onClose={onClose}>
      <div className="find" onKeyDown={(e) => {
        if (composing(e)) return;
        const does: Record<string, () => unknown> = { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(8), PageUp: () => step(-8), Enter: enter };
        const f = does[e.key];
        if (!f || (e.key === "Enter" && !(e.target instanceof HTMLInputElement))) return;
        e.preventDefault();
        f();
      }}>
        <input className="field" role="combobox" aria-expanded={find.found.length > 0} aria-controls="find-list" aria-activedescendant={here >= 0 ? `find-${here}` : undefined} aria-label="Words" placeholder="Words, or &quot;words together&quot;" value={find.words} spellCheck={false} maxLength={300}
          onChange={(e) => { setAt(0); search(e.target.value, ""); }} />
        <p className="hint" role="status">{says(find.phase, find.found.length, find.more)}</p>
        {find.failure && <FailureCard failure={find.failure}><Button look="small" onClick={() => search(find.words, "")}>Try again</Button></FailureCard>}
        <div id="find-list" className="find-list" role="listbox" aria-label="Found" ref={list}>
          {find.found.map((f, i) => (
            // The field has the keyboard, and its keys choose.
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
            <div key={f.event_id} id={`find-${i}`} role="option" aria-selected={i === here} className="find-hit" onClick={() => go(f)}>
              <Hit f={f} words={words} />
            </div>
          ))}
        </div>
      </div>
    </Modal>
  );
}

function says(phase: string, n: number, more: boolean): string {
  if (phase === "none") return "Finds prompts, answers, thinking, calls and what they printed, in all channels. Words are found from their beginning.";
  if (phase === "loading" && n === 0) return "Searching";
  if (phase === "error") return "";
  return n === 0 ? "Nothing was said or done with these words. Try fewer, or the beginning of one." : `${n}${more ? " and more" : ""}, newest first`;
}

function Hit({ f, words }: { f: FoundEvent; words: string[] }) {
  const channel = useStore(frameStore, (s) => s.channels.find((c) => c.channel_id === f.channel_id)?.name ?? "");
  const text = visibleLine(stripColour(f.excerpt).trim());
  const marks = stretches(text, words);
  return (
    <>
      <span className="find-head">
        <span className="find-channel ellipsis">{visible(channel)}</span>
        <span className="find-who">{visible(whose(f))}</span>
        <time className="tnum" dateTime={new Date(f.timestamp).toISOString()} title={exact(f.timestamp)}>{when(f.timestamp)}</time>
      </span>
      <span className="find-text">
        {marks.map((m, i) => [text.slice(marks[i - 1]?.to ?? 0, m.from), <mark key={m.from}>{text.slice(m.from, m.to)}</mark>])}
        {text.slice(marks.at(-1)?.to ?? 0)}
      </span>
    </>
  );
}
