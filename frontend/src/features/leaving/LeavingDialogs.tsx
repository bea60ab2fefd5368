import { Circle, Clock3, Hammer, Monitor, MessageSquareText, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import type { Leaving, LeavingItem, LeavingKind } from "../../api/types";
import { goesOnFor, leavingStore } from "../../model/leaving";
import { Button, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { when } from "../../model/clock";
import { asked, cancel, closeWindow, dialogIsThere, quitNow, refresh } from "../../session/leave";
import "./leaving.css";

const LOOK_MS = 2000; // ms between two looks; a run may end or a program begin while the person reads
const SHOWN = 8; // rows of each part

/** The questions before Loop ends. They lie above any other dialog, which keeps its half typed text. */
export function LeavingDialogs() {
  const asking = useStore(leavingStore, (l) => l.asking);
  useEffect(() => {
    if (!asking) return;
    dialogIsThere();
    const t = setInterval(() => void refresh(), LOOK_MS);
    return () => clearInterval(t);
  }, [asking]);
  return asking === "quit" ? <QuitDialog /> : asking === "close" ? <CloseNotice /> : null;
}

function QuitDialog() {
  const { facts, failure } = useStore(leavingStore);
  const loses = !facts || (facts.ends ?? []).length > 0;
  const keep = useRef<HTMLButtonElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // Work that would end has begun meanwhile. Enter must not end it unseen.
    if (loses && document.activeElement === leave.current) keep.current?.focus();
  }, [loses]);
  return (
    <Modal title="Quit Loop" scrolls onClose={cancel} foot={
      <>
        <Button ref={keep} onClick={cancel} data-first={loses || undefined}>Cancel</Button>
        <Button look={loses ? "danger" : "primary"} ref={leave} onClick={quitNow} data-first={!loses || undefined}>Quit</Button>
      </>
    }>
      {failure && <FailureCard failure={failure} />}
      {failure && <p className="hint">Programs in terminals of this computer end when Loop does.</p>}
      {facts && <Fates facts={facts} />}
    </Modal>
  );
}

function Fates({ facts }: { facts: Leaving }) {
  const ends = facts.ends ?? [], goesOn = facts.goes_on ?? [], waits = facts.waits ?? [];
  return (
    <div className="leaving">
      <Part title="Ends now" items={ends} />
      <Part title="Goes on in its container; the next start takes it up" items={goesOn} />
      <Part title="Waits for the next start" items={waits} />
      {ends.length + goesOn.length + waits.length === 0 && <p>Nothing is under way any more.</p>}
      {ends.length === 0 && goesOn.length + waits.length > 0 && <p className="hint">Nothing is lost.</p>}
    </div>
  );
}

function Part({ title, items }: { title: string; items: LeavingItem[] }) {
  if (items.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {items.slice(0, SHOWN).map((i, n) => <Item key={n} item={i} />)}
        {items.length > SHOWN && <li className="leaving-more">and {items.length - SHOWN} more</li>}
      </ul>
    </section>
  );
}

const ICONS: Record<LeavingKind, ReactNode> = {
  run: <MessageSquareText size={14} aria-hidden />, prompt: <Clock3 size={14} aria-hidden />, program: <SquareTerminal size={14} aria-hidden />,
  terminal: <SquareTerminal size={14} aria-hidden />, recording: <Circle size={14} aria-hidden />, image: <Hammer size={14} aria-hidden />,
};

function Item({ item: i }: { item: LeavingItem }) {
  const name = i.name ?? "";
  const title = i.title && i.title !== name ? i.title : "";
  return (
    <li>
      {i.host && i.kind === "program" ? <Monitor size={14} aria-hidden /> : ICONS[i.kind]}
      <span className="leaving-what">
        <What kind={i.kind} name={name} />
        <span className="leaving-where">
          {title && <SafeText text={title} />}
          {i.kind === "program" && <span>{i.host ? "on this computer" : "in a container of yours"}</span>}
          {i.channel && <SafeText text={i.channel} />}
          {i.at && <span>starts at {when(Date.parse(i.at))}</span>}
        </span>
      </span>
    </li>
  );
}

function What({ kind, name }: { kind: LeavingKind; name: string }) {
  switch (kind) {
    case "recording":
      return <span>The recording</span>;
    case "image":
      return <span>The build of the agent image</span>;
    case "program":
    case "terminal":
      return name ? <span className="mono"><SafeText text={name} /></span> : <span>A program</span>;
    default:
      return <SafeText text={name} />;
  }
}

/** Says once that Loop goes on when its window closes. */
function CloseNotice() {
  const { facts, failure } = useStore(leavingStore);
  useEffect(() => {
    // A second attempt to close hides the window, so the notice goes too.
    const gone = () => document.hidden && cancel();
    document.addEventListener("visibilitychange", gone);
    return () => document.removeEventListener("visibilitychange", gone);
  }, []);
  return (
    <Modal title="Loop goes on in the background" onClose={cancel} foot={
      <>
        <Button onClick={() => asked("quit")}>Quit…</Button>
        <span className="grow" />
        <Button onClick={cancel}>Cancel</Button>
        <Button look="primary" onClick={closeWindow} data-first>Close the window</Button>
      </>
    }>
      <div className="leaving">
        <p>
          Closing the window ends nothing.
          {facts?.stays && <> Loop goes on for {goesOnFor(facts)}, and ends by itself when nothing needs it any more.</>}
          {facts && !facts.stays && <> Nothing needs Loop any more, so it ends by itself.</>}
        </p>
        {failure && <FailureCard failure={failure} />}
        <p>To see the window again, start Loop again.</p>
        <p className="hint">This is said once. <KeyOf of="page.quit" /> quits Loop; if something is under way it asks first.</p>
      </div>
    </Modal>
  );
}
