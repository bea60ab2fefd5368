import { FilePen, Globe, CirclePause, Plug, ShieldCheck, SquareTerminal } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Approval, ApprovalKind } from "../../api/types";
import { arrive, leave } from "../../dock/visit";
import { askerWords, inTimeline, timeLeft } from "../../model/gate";
import { elideMiddle } from "../../model/gate-text";
import { frameStore, stopStore } from "../../model/stores";
import { visible } from "../../model/text";
import { ApprovalCard } from "../../ui/approval/ApprovalCard";
import { ApprovalLine } from "../../ui/approval/ApprovalLine";
import { KeyOf } from "../../ui/Button";
import { SafeLine, SafeText } from "../../ui/SafeText";
import { useNow } from "../../ui/useNow";
import { allStops, cardActions, focusCard, review, takeStop } from "../../session/gate";
import "./gate.css";

const ICONS: Record<ApprovalKind, typeof Globe> = { file: FilePen, execve: SquareTerminal, connect: Plug, navigate: Globe, flood: CirclePause };
const TARGET_MAX = 90; // characters, in a row

/**
 * What waits for the person, of all channels, oldest first. A row leads to its card in its
 * timeline. What has no timeline, as a terminal, or is not on a loaded page of one, has its
 * card here.
 */
export function WaitingPanel() {
  const approvals = useStore(frameStore, (f) => f.approvals);
  const answered = useStore(frameStore, (f) => f.answered);
  const { at, to } = useStore(stopStore);
  const [chosen, setChosen] = useState("");
  const body = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(""); // the one whose card was asked for here
  const here = approvals.find((a) => a.approval_id === chosen);

  // Someone came by F8 or a banner, also before this panel was open.
  useEffect(() => {
    const id = to === "panel" ? takeStop("panel") : "";
    if (!id) return;
    setChosen(id);
    setOpen(id);
    focusCard(id, body.current);
  }, [to]);
  useEffect(() => {
    if (at) setChosen(at);
  }, [at]);

  // The first one of a terminal is open, as it has no other place. Nothing takes the focus by that.
  const own = approvals.find((a) => !inTimeline(a));
  const shown = here && (!inTimeline(here) || here.approval_id === open) ? here : own;
  useFocusStays(body, shown?.approval_id ?? "");

  return (
    <section className="gate-waiting" aria-label="Waiting for you" ref={body} data-region="waiting" tabIndex={-1} onFocus={arrive} onKeyDown={(e) => e.key === "Escape" && !e.defaultPrevented && leave(e.currentTarget)}>
      <h2 className="sr-only">Waiting for you</h2>
      {approvals.length === 0 ? (
        <div className="dock-empty">
          <ShieldCheck size={20} aria-hidden />
          <h3>Nothing waits</h3>
          <p>A call that a rule holds appears here until you answer, from every channel.</p>
        </div>
      ) : (
        <>
          <List approvals={approvals} chosen={chosen} onChoose={(a) => {
            setChosen(a.approval_id);
            review(a);
          }} />
          <p className="gate-foot">
            <span>Oldest first; denied once when the time is up</span>
            <span><KeyOf of="page.next-waiting" /> next <KeyOf of="page.previous-waiting" /> back</span>
          </p>
          {shown && <Card key={shown.approval_id} a={shown} />}
        </>
      )}
      {answered.length > 0 && (
        <div className="gate-answered">
          <h3>Answered last</h3>
          <ul aria-label="Answered last">
            {answered.map((a) => <li key={a.approval_id}><ApprovalLine a={a} /></li>)}
          </ul>
        </div>
      )}
    </section>
  );
}

function Card({ a }: { a: Approval }) {
  const all = allStops();
  return <div className="gate-card"><ApprovalCard a={a} nth={all.findIndex((s) => s.id === a.approval_id) + 1} of={all.length} act={cardActions(a)} /></div>;
}

type ListProps = { approvals: Approval[]; chosen: string; onChoose(a: Approval): void };

/** The rows. The arrow keys walk them; Enter and a click go to the card, and answer nothing. */
function List({ approvals, chosen, onChoose }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState("");
  const found = approvals.findIndex((a) => a.approval_id === (focused || chosen));
  const at = Math.max(0, found);
  const now = useNow(approvals.some((a) => a.deadline));
  const channels = useStore(frameStore, (f) => f.channels);
  const go = (i: number) => list.current?.querySelectorAll<HTMLElement>("button")[Math.min(approvals.length - 1, Math.max(0, i))]?.focus();

  function onKey(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: approvals.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    go(to);
  }
  const place = (a: Approval) => {
    const c = channels.find((x) => x.channel_id === a.channel_id);
    const p = channels.find((x) => x.channel_id === c?.parent_id);
    return [p, c].flatMap((x) => (x ? [visible(x.name)] : [])).join(" › ");
  };
  return (
    <ul className="gate-list" aria-label="Waiting for you, oldest first" ref={list} onKeyDown={onKey}>
      {approvals.map((a, i) => {
        const Icon = ICONS[a.kind] ?? CirclePause;
        const by = a.processes?.[0] && askerWords(a.processes[0]);
        return (
          <li key={a.approval_id}>
            <button type="button" className={`gate-row ${a.approval_id === chosen ? "chosen" : ""}`} tabIndex={i === at ? 0 : -1} aria-current={a.approval_id === chosen || undefined}
              onFocus={() => setFocused(a.approval_id)} onClick={() => onChoose(a)}>
              <Icon size={15} aria-hidden />
              <span className="gate-row-text">
                <span className="gate-row-title"><SafeText text={a.title} /></span>
                {a.kind !== "flood" && <span className="gate-row-what"><span className="mono"><SafeLine text={elideMiddle(a.target, TARGET_MAX)} /></span>{by && <> by <SafeLine text={by} /></>}</span>}
                <span className="gate-row-place">{place(a)}{inTimeline(a) ? "" : a.kind === "navigate" ? ", in the browser" : ", in a terminal"}</span>
              </span>
              <span className="gate-row-time tnum">{timeLeft(a, now)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** The keyboard was in a card that is gone: the panel's list has it then, not the page. */
function useFocusStays(body: React.RefObject<HTMLElement | null>, id: string) {
  const inside = useRef(false);
  useLayoutEffect(() => { // before a card gets the focus
    const note = () => (inside.current = Boolean(document.activeElement?.closest("[data-approval]") && body.current?.contains(document.activeElement)));
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [body]);
  useLayoutEffect(() => {
    if (!inside.current || (document.activeElement ?? document.body) !== document.body) return;
    inside.current = false;
    (body.current?.querySelector<HTMLElement>(".gate-row[tabindex='0']") ?? body.current)?.focus({ preventScroll: true });
  }, [body, id]);
}
