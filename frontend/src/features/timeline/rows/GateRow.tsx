import { ChevronRight } from "lucide-react";
import { useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import type { Approval } from "../../../api/types";
import type { GateItem } from "../../../model/timeline/items";
import { frameStore } from "../../../model/stores";
import { ApprovalCard } from "../../../ui/approval/ApprovalCard";
import { ApprovalFacts } from "../../../ui/approval/ApprovalFacts";
import { ApprovalLine } from "../../../ui/approval/ApprovalLine";
import { allStops, cardActions, followGathered } from "../../../session/gate";
import type { RowProps } from "./props";

/** A call that the gate held: its card while it waits, one line afterwards. */
export function GateRow({ item, open, onToggle }: RowProps<GateItem>) {
  const id = item.approval.approval_id;
  const live = useStore(frameStore, (f) => f.approvals.find((a) => a.approval_id === id));
  const over = useStore(frameStore, (f) => f.answered.find((a) => a.approval_id === id));
  const place = useRef<HTMLDivElement>(null);
  useFocusStays(place, live !== undefined);
  useFocusFollows(place, item.approval);
  return (
    <div className="main" ref={place}>
      {live ? <Waiting a={live} /> : <Over a={ended(over ?? item.approval)} id={id} open={open} onToggle={() => onToggle(item.key)} />}
    </div>
  );
}

function Waiting({ a }: { a: Approval }) {
  useStore(frameStore, (f) => f.approvals);
  const all = allStops();
  return <ApprovalCard a={a} nth={all.findIndex((s) => s.id === a.approval_id) + 1} of={all.length} act={cardActions(a)} />;
}

/** A stored question of which Loop knows nothing any more: nothing waits for it, and no more than that is known. */
const ended = (a: Approval): Approval => (a.state === "waiting" ? { ...a, state: "withdrawn" } : a);

function Over({ a, id, open, onToggle }: { a: Approval; id: string; open: boolean; onToggle(): void }) {
  return (
    <>
      <button type="button" className={`line quiet ${open ? "open" : ""}`} tabIndex={-1} aria-expanded={open} onClick={onToggle}>
        <ApprovalLine a={a} />
        <ChevronRight size={13} className={`twist ${open ? "open" : ""}`} aria-hidden />
      </button>
      {open && <div className="body"><ApprovalFacts a={a} id={`over-${id}`} /></div>}
    </>
  );
}

/** The keyboard was in a card that went over into the one question of its run, which then has it. */
function useFocusFollows(place: React.RefObject<HTMLDivElement | null>, a: Approval) {
  const last = useRef(a);
  useLayoutEffect(() => {
    last.current = a;
  }, [a]);
  useLayoutEffect(() => {
    const el = place.current;
    return () => {
      if (el?.closest("article")?.contains(document.activeElement)) followGathered(last.current);
    };
  }, [place]);
}

/** The keyboard was in a card that has become a line: the item keeps it, so that it is not lost. */
function useFocusStays(place: React.RefObject<HTMLDivElement | null>, live: boolean) {
  const inside = useRef(false);
  useLayoutEffect(() => {
    // A card that is taken away loses the focus before it is gone, so only its next place is noted.
    const note = (e: FocusEvent) => (inside.current = Boolean(place.current?.contains(e.target as Node)));
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [place]);
  const was = useRef(live);
  useLayoutEffect(() => {
    const lost = was.current && !live && inside.current && (document.activeElement ?? document.body) === document.body;
    was.current = live;
    if (lost) place.current?.closest<HTMLElement>("article")?.focus({ preventScroll: true });
  }, [live, place]);
}
